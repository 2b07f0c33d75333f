import { isJsonObject, type JsonObject } from "./jsonrpc.ts";

/** Revisions with a handshake and sessions, newest first. */
export const LEGACY_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
export const LATEST_LEGACY_VERSION = LEGACY_VERSIONS[0];
/** What is assumed of a request without a version header. */
export const ASSUMED_VERSION = "2025-03-26";
/** The one revision that has batches. */
export const BATCH_VERSION = "2025-03-26";

export const SESSION_HEADER = "mcp-session-id";
export const VERSION_HEADER = "mcp-protocol-version";

/** Whether a version is one that is served with a handshake. */
export function isLegacyVersion(version: unknown): boolean {
  return LEGACY_VERSIONS.some((known) => known === version);
}

/** One server-sent event that holds a message. */
export function messageEvent(message: unknown): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}

/** A tool as a server listed it: every field is kept. */
export type ListedTool = JsonObject & { readonly name: string };

/** Whether a list item can be served as a tool: clients refuse a whole list for one that has no name or no object schema. */
export function isListedTool(item: unknown): item is ListedTool {
  if (!isJsonObject(item) || typeof item["name"] !== "string" || item["name"] === "") return false;
  const schema = item["inputSchema"];
  return isJsonObject(schema) && schema["type"] === "object";
}
