import { parseSync } from "oxc-parser";
import type { CardFinding, SourceScan } from "./finding.ts";

const FUNCTION = "environmentCard";

/** A node of the syntax tree, as far as this file looks: its type, and whatever fields that type has. */
type SyntaxNode = { readonly type: string; readonly start: number; readonly [field: string]: unknown };

/**
 * The calls of `environmentCard({ name: "…" })` in a TypeScript or JavaScript source (4-bundle §6). `path` tells the
 * language by its suffix. Nothing is imported or run.
 */
export function scanTypeScript(path: string, source: string): SourceScan {
  const text = source.replace(/^\ufeff/, "");
  const lang = path.endsWith(".tsx") ? "tsx" : path.endsWith(".ts") ? "ts" : "jsx";
  const { program, errors } = parseSync(path, text, { lang, sourceType: "unambiguous", preserveParens: false });
  const [error] = errors;
  if (error) return { error: `line ${lineOf(text, error.labels[0]?.start ?? 0)}: ${error.message}` };
  const nodes = allNodes(program);
  const names = new Set([FUNCTION, ...nodes.flatMap(alias)]);
  return { findings: nodes.flatMap((node) => cardOf(node, names, text)) };
}

/** All nodes below `root` in the order of the source. A loop, since an expression may nest deeper than the stack. */
function allNodes(root: unknown): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  const open: unknown[] = [root];
  while (open.length > 0) {
    const item = open.pop();
    if (Array.isArray(item)) open.push(...item.toReversed());
    else if (isNode(item)) {
      found.push(item);
      open.push(...Object.values(item).toReversed());
    }
  }
  return found;
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

/** The name that an import of this file gives the function. */
function alias(node: SyntaxNode): string[] {
  if (node.type !== "ImportSpecifier" || keyName(node["imported"]) !== FUNCTION) return [];
  return isNode(node["local"]) ? [String(node["local"]["name"])] : [];
}

function cardOf(node: SyntaxNode, names: ReadonlySet<string>, text: string): CardFinding[] {
  if (node.type !== "CallExpression" || !isCard(node["callee"], names)) return [];
  const name = cardName(unwrapped(firstOf(node["arguments"])));
  return name === undefined || name === "" ? [] : [{ line: lineOf(text, node.start), name }];
}

function isCard(callee: unknown, names: ReadonlySet<string>): boolean {
  if (!isNode(callee)) return false;
  if (callee.type === "ChainExpression") return isCard(callee["expression"], names);
  if (callee.type === "Identifier") return names.has(String(callee["name"]));
  return callee.type === "MemberExpression" && callee["computed"] === false && keyName(callee["property"]) === FUNCTION;
}

/** Undefined: the card has no name. Null: it has one, but no literal. */
function cardName(argument: unknown): string | null | undefined {
  if (!isNode(argument)) return undefined;
  if (argument.type !== "ObjectExpression" || !Array.isArray(argument["properties"])) return null;
  let name: string | null | undefined;
  for (const property of argument["properties"]) {
    if (!isNode(property)) continue;
    // What is spread may bring a name, which then wins over those before it.
    if (property.type === "SpreadElement") name = null;
    else if (nameOfKey(property) === "name") name = isPlain(property) ? literal(unwrapped(property["value"])) : null;
  }
  return name;
}

function isPlain(property: SyntaxNode): boolean {
  return property["kind"] === "init" && !property["computed"] && !property["shorthand"] && !property["method"];
}

function nameOfKey(property: SyntaxNode): string | null {
  return property["computed"] ? literal(unwrapped(property["key"])) : keyName(property["key"]);
}

function keyName(key: unknown): string | null {
  if (!isNode(key)) return null;
  return key.type === "Identifier" ? String(key["name"]) : literal(key);
}

function literal(value: unknown): string | null {
  if (!isNode(value)) return null;
  if (value.type === "Literal") return typeof value["value"] === "string" ? value["value"] : null;
  if (value.type !== "TemplateLiteral" || firstOf(value["expressions"]) !== undefined) return null;
  const quasi = firstOf(value["quasis"]);
  const content = isNode(quasi) ? quasi["value"] : null;
  return typeof content === "object" && content !== null && "cooked" in content && typeof content.cooked === "string"
    ? content.cooked
    : null;
}

const TYPE_WRAPPERS = ["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression", "TSTypeAssertion"];

/** Without what only says something about types. */
function unwrapped(value: unknown): unknown {
  return isNode(value) && TYPE_WRAPPERS.includes(value.type) ? unwrapped(value["expression"]) : value;
}

function firstOf(list: unknown): unknown {
  return Array.isArray(list) ? list[0] : undefined;
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}
