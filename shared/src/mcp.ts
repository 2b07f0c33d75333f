import { isJsonObject, type JsonObject } from "./jsonrpc.ts";

/** Revisions with a handshake and sessions, newest first. */
export const LEGACY_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
export const LATEST_LEGACY_VERSION = LEGACY_VERSIONS[0];
/** What is assumed of a request without a version header. */
export const ASSUMED_VERSION = "2025-03-26";
/** The one revision that has batches. */
export const BATCH_VERSION = "2025-03-26";

/** The revision without a handshake: every request says its version and what its client can do. */
export const MODERN_VERSION = "2026-07-28";

export const SESSION_HEADER = "mcp-session-id";
export const VERSION_HEADER = "mcp-protocol-version";
/** Modern requests say in headers, too, what their body asks for. */
export const METHOD_HEADER = "mcp-method";
export const NAME_HEADER = "mcp-name";
export const PARAM_HEADER_PREFIX = "mcp-param-";

/** What of `_meta` is the protocol's own. */
export const MCP_META_PREFIX = "io.modelcontextprotocol/";
export const VERSION_META_KEY = `${MCP_META_PREFIX}protocolVersion`;
export const CAPABILITIES_META_KEY = `${MCP_META_PREFIX}clientCapabilities`;
export const CLIENT_INFO_META_KEY = `${MCP_META_PREFIX}clientInfo`;
export const SERVER_INFO_META_KEY = `${MCP_META_PREFIX}serverInfo`;
export const LOG_LEVEL_META_KEY = `${MCP_META_PREFIX}logLevel`;
export const SUBSCRIPTION_META_KEY = `${MCP_META_PREFIX}subscriptionId`;

/** Levels of log lines, the least first. */
export const LOG_LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

/** Whether a version is one that is served with a handshake. */
export function isLegacyVersion(version: unknown): boolean {
  return LEGACY_VERSIONS.some((known) => known === version);
}

/** One server-sent event that holds a message. With an id the stream can be taken up behind it. */
export function messageEvent(message: unknown, id?: string): string {
  return `event: message\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`;
}

/** A tool as a server listed it: every field is kept. */
export type ListedTool = JsonObject & { readonly name: string };

/** Whether a list item can be served as a tool: clients refuse a whole list for one that has no name or no object schema. */
export function isListedTool(item: unknown): item is ListedTool {
  if (!isJsonObject(item) || typeof item["name"] !== "string" || item["name"] === "") return false;
  const schema = item["inputSchema"];
  return isJsonObject(schema) && schema["type"] === "object";
}
