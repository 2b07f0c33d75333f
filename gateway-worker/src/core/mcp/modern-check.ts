import {
  CAPABILITIES_META_KEY,
  HEADER_MISMATCH,
  INVALID_PARAMS,
  isJsonObject,
  type JsonObject,
  METHOD_HEADER,
  METHOD_NOT_FOUND,
  MISSING_CAPABILITY,
  MODERN_VERSION,
  NAME_HEADER,
  UNSUPPORTED_VERSION,
  VERSION_HEADER,
  VERSION_META_KEY,
} from "@agent-env/protocol";
import type { Field } from "../seam.ts";
import { TASKS_EXTENSION } from "./capabilities.ts";
import { decodedHeader } from "./header-value.ts";
import { NAMED_BY } from "./modern-channel.ts";
import { paramProblem } from "./param-headers.ts";
import { hasExtension } from "./task-methods.ts";

export type ModernProblem = { readonly status: 400 | 404; readonly code: number; readonly message: string; readonly data?: unknown };

/** Whether a message, or the version that its headers name, is of the modern era (6-mcp §2). */
export function isModernRequest(body: unknown, version: string | undefined): boolean {
  const meta = isJsonObject(body) && isJsonObject(body["params"]) ? body["params"]["_meta"] : undefined;
  return (isJsonObject(meta) && Object.hasOwn(meta, VERSION_META_KEY)) || isModernVersion(version);
}

/** Whether a version header names the modern revision or a later one. */
export function isModernVersion(version: string | undefined): boolean {
  return version !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= MODERN_VERSION;
}

/** What is checked of a modern request besides its body. `tool` is the one that it calls, if there is one. */
export type ModernRequest = { readonly message: JsonObject; readonly fields: readonly Field[]; readonly tool: JsonObject | undefined };

/** Whether what a request's headers say is what its body does (6-mcp §3, m10). */
export function headerProblem({ message, fields, tool }: ModernRequest): ModernProblem | null {
  const params = isJsonObject(message["params"]) ? message["params"] : {};
  const meta = isJsonObject(params["_meta"]) ? params["_meta"] : {};
  const method = String(message["method"]);
  const version = meta[VERSION_META_KEY];
  const named = NAMED_BY[method];
  const name = named === undefined ? undefined : params[named];
  const problem =
    (version === undefined ? null : mismatch(fields, VERSION_HEADER, version)) ??
    mismatch(fields, METHOD_HEADER, method) ??
    (name === undefined ? null : mismatch(fields, NAME_HEADER, name)) ??
    (tool === undefined ? null : paramProblem(tool, params["arguments"], fields));
  return problem === null ? null : { status: 400, code: HEADER_MISMATCH, message: problem };
}

/** What is wrong with what a request says of itself (6-mcp §3, m11 to m14). */
export function metaProblem(message: JsonObject, isServed: (method: unknown) => boolean): ModernProblem | null {
  const params = isJsonObject(message["params"]) ? message["params"] : {};
  const meta = isJsonObject(params["_meta"]) ? params["_meta"] : {};
  const version = meta[VERSION_META_KEY];
  const { method } = message;
  if (typeof version !== "string") return invalid(`params._meta[${JSON.stringify(VERSION_META_KEY)}] must be a string`);
  if (version !== MODERN_VERSION) {
    const data = { requested: version, supported: [MODERN_VERSION] };
    return { status: 400, code: UNSUPPORTED_VERSION, message: `MCP ${JSON.stringify(version)} is not served here`, data };
  }
  const capabilities = meta[CAPABILITIES_META_KEY];
  if (!isJsonObject(capabilities)) return invalid(`params._meta[${JSON.stringify(CAPABILITIES_META_KEY)}] must be an object`);
  if (!isServed(method)) return { status: 404, code: METHOD_NOT_FOUND, message: `method not found: ${String(method)}` };
  return String(method).startsWith("tasks/") && !hasExtension(capabilities) ? NEEDS_TASKS : null;
}

const NEEDS_TASKS: ModernProblem = {
  status: 400,
  code: MISSING_CAPABILITY,
  message: `the client has not declared the extension ${TASKS_EXTENSION}`,
  data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
};

function invalid(message: string): ModernProblem {
  return { status: 400, code: INVALID_PARAMS, message };
}

function mismatch(fields: readonly Field[], name: string, inBody: unknown): string | null {
  const values = fields.filter(([field]) => field === name).map(([, value]) => value);
  const [sent] = values;
  if (sent === undefined) return `${name} is missing`;
  const said = values.length === 1 ? decodedHeader(sent) : null;
  if (said === null) return `${name} can't be read`;
  return said === inBody ? null : `${name} says ${JSON.stringify(said)}, and the body ${JSON.stringify(inBody)}`;
}
