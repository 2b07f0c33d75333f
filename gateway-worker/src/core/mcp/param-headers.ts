import { isJsonObject, type JsonObject, PARAM_HEADER_PREFIX } from "@agent-env/protocol";
import type { Field } from "../seam.ts";
import { decodedHeader, encodedHeader } from "./header-value.ts";

const KEYWORD = "x-mcp-header";
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: readonly unknown[] = ["string", "integer", "boolean"];
/** Keywords that lead to other places in a schema than a property does. */
const NOT_PROPERTIES =
  /^(items|prefixItems|contains|additionalProperties|unevaluated.*|propertyNames|patternProperties|dependentSchemas|(one|any|all)Of|not|if|then|else|\$defs|definitions)$/;

/** An argument that is also sent as a header (6-mcp §4). */
type HeaderParam = { readonly path: readonly string[]; readonly name: string; readonly type: unknown };
type Found = { readonly params: HeaderParam[]; problem: string | null };

/** Why the `x-mcp-header`s of a tool can't be used; null where they can. */
export function badHeaderParams(tool: JsonObject): string | null {
  return headerParams(tool["inputSchema"]).problem;
}

/** The headers that repeat a call's arguments, as the tool's schema says. */
export function paramFields(tool: JsonObject, args: unknown): Field[] {
  return headerParams(tool["inputSchema"]).params.flatMap(({ path, name }): Field[] => {
    const value = valueAt(args, path);
    return value === undefined || value === null ? [] : [[PARAM_HEADER_PREFIX + name.toLowerCase(), encodedHeader(textOf(value))]];
  });
}

/** What is wrong with a request's `Mcp-Param-…` headers; null if they say what its arguments do. */
export function paramProblem(tool: JsonObject, args: unknown, fields: readonly Field[]): string | null {
  for (const { path, name, type } of headerParams(tool["inputSchema"]).params) {
    const field = PARAM_HEADER_PREFIX + name.toLowerCase();
    const values = fields.filter(([given]) => given === field).map(([, value]) => value);
    const value = valueAt(args, path) ?? null;
    const [sent] = values;
    if (value === null && sent === undefined) continue;
    if (value === null) return `${field} is there, and the argument ${path.join(".")} is not`;
    if (sent === undefined) return `${field} is missing`;
    const said = values.length === 1 ? decodedHeader(sent) : null;
    if (said === null) return `${field} can't be read`;
    const isSame = type === "integer" ? Number(said) === Number(textOf(value)) && said.trim() !== "" : said === textOf(value);
    if (!isSame) return `${field} differs from the argument ${path.join(".")}`;
  }
  return null;
}

/** A schema is read once, not with every call. */
const known = new WeakMap<JsonObject, Found>();

function headerParams(schema: unknown): Found {
  const found: Found = { params: [], problem: null };
  if (!isJsonObject(schema)) return found;
  const before = known.get(schema);
  if (before !== undefined) return before;
  if (JSON.stringify(schema).includes(KEYWORD)) collect(schema, [], true, found);
  known.set(schema, found);
  return found;
}

function collect(schema: unknown, path: readonly string[], isReachable: boolean, found: Found): void {
  if (Array.isArray(schema)) for (const part of schema) collect(part, path, false, found);
  if (!isJsonObject(schema)) return;
  if (Object.hasOwn(schema, KEYWORD)) {
    const name = schema[KEYWORD];
    const problem = problemOf({ name, type: schema["type"], isReachable: isReachable && path.length > 0, found });
    if (problem !== null) found.problem ??= `${KEYWORD} of ${JSON.stringify(path.join("."))} ${problem}`;
    else if (typeof name === "string") found.params.push({ path, name, type: schema["type"] });
  }
  const properties = schema["properties"];
  if (isJsonObject(properties)) for (const [key, part] of Object.entries(properties)) collect(part, [...path, key], isReachable, found);
  for (const [keyword, part] of Object.entries(schema)) {
    if (!NOT_PROPERTIES.test(keyword)) continue;
    const parts =
      isJsonObject(part) && /^(patternProperties|dependentSchemas|\$defs|definitions)$/.test(keyword) ? Object.values(part) : part;
    collect(parts, path, false, found);
  }
}

function problemOf(of: { name: unknown; type: unknown; isReachable: boolean; found: Found }): string | null {
  if (!of.isReachable) return "is not on a property";
  if (typeof of.name !== "string" || !TOKEN.test(of.name)) return "is no header name";
  if (!TYPES.includes(of.type)) return "is on something other than a string, integer or boolean";
  const lower = of.name.toLowerCase();
  return of.found.params.some(({ name }) => name.toLowerCase() === lower) ? "is there twice" : null;
}

function valueAt(args: unknown, path: readonly string[]): unknown {
  let value = args;
  for (const key of path) value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

/** A long integer keeps its digits. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
