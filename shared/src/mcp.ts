import { isJsonObject, type JsonObject } from "./jsonrpc.ts";

/** Revisions with a handshake and sessions, newest first. */
export const LEGACY_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
export const LATEST_LEGACY_VERSION = LEGACY_VERSIONS[0];
/** What is assumed of a request without a version header. */
export const ASSUMED_VERSION = "2025-03-26";
/** The one revision that has batches. */
export const BATCH_VERSION = "2025-03-26";
/** First of the stateless revisions. */
export const FIRST_MODERN_VERSION = "2026-07-28";

export const SESSION_HEADER = "mcp-session-id";
export const VERSION_HEADER = "mcp-protocol-version";

const MODERN_VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

/** Whether a version is one that is served with a handshake. */
export function isLegacyVersion(version: unknown): boolean {
  return LEGACY_VERSIONS.some((known) => known === version);
}

/** Which era a request belongs to (6-mcp §2). A malformed modern request stays modern. */
export function eraOf(versionHeader: string | undefined, params: unknown): "legacy" | "modern" {
  const meta = isJsonObject(params) ? params["_meta"] : undefined;
  if (isJsonObject(meta) && Object.hasOwn(meta, MODERN_VERSION_KEY)) return "modern";
  return versionHeader !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(versionHeader) && versionHeader >= FIRST_MODERN_VERSION
    ? "modern"
    : "legacy";
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
