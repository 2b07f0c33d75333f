import { isJsonObject, PARAM_HEADER_PREFIX } from "@agent-env/protocol";

/** The headers that repeat arguments: those of which the tool's schema says so by `x-mcp-header`. */
export function paramHeaders(schema: unknown, args: unknown): [string, string][] {
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  if (!isJsonObject(properties) || !isJsonObject(args)) return [];
  return Object.entries(properties).flatMap(([name, property]): [string, string][] => {
    const value = args[name];
    if (!isJsonObject(property) || value === undefined || value === null) return [];
    const header = property["x-mcp-header"];
    return typeof header === "string" ? [[PARAM_HEADER_PREFIX + header, headerValue(String(value))]] : paramHeaders(property, value);
  });
}

/** As it is where a header can hold it, else as base64 of its UTF-8 (MCP, revision 2026-07-28). */
function headerValue(text: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}
