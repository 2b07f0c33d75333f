import { isJsonObject, type JsonObject } from "@agent-env/protocol";

/** Arguments that say what was done, and nothing about anybody. */
const HARMLESS = ["title", "name", "status", "state", "kind", "type", "limit", "offset", "count", "quantity", "qty"];

/** A trigger's arguments as logs show them: ids and a few harmless keys, of all others what they are. */
export function redacted(args: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(args).map(([key, value]) => [key, isShown(key, value) ? value : { redacted: shapeOf(value) }]));
}

function isShown(key: string, value: unknown): boolean {
  const isPlain = value === null || typeof value !== "object";
  return isPlain && (HARMLESS.includes(key) || /(^|_)ids?$|[a-z]Ids?$/.test(key));
}

function shapeOf(value: unknown): { type: string; len?: number } {
  if (typeof value === "string") return { type: "string", len: value.length };
  if (Array.isArray(value)) return { type: "list", len: value.length };
  if (isJsonObject(value)) return { type: "object", len: Object.keys(value).length };
  return { type: value === null ? "null" : typeof value };
}
