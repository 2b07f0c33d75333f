import type { JsonObject } from "@agent-env/protocol";
import type { Backing } from "./backing.ts";

export type ServerStatus = "starting" | "up" | "down";
export type ServerState = {
  readonly name: string;
  readonly kind: "mcp" | "website";
  readonly status: ServerStatus;
  readonly reason: string | null;
  /** RFC 3339, to the second. */
  readonly since: string;
  readonly tools: number;
  readonly warnings?: readonly string[];
};

/** RFC 3339 in UTC, to the second. */
export function secondsTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** The time that was last written: under load many events have the same. */
let lastTime = { ms: Number.NaN, text: "" };

/** ISO 8601 in UTC as trajectories and events have it. */
export function isoTime(ms: number): string {
  if (lastTime.ms !== ms) lastTime = { ms, text: `${new Date(ms).toISOString().slice(0, 23)}000+00:00` };
  return lastTime.text;
}

/** One server as `/state` and `/health` show it: no address in it. */
export function serverState(backing: Backing): ServerState {
  const { server, mcp } = backing;
  const link = mcp?.link.state;
  const status = link?.status ?? (backing.isSettled ? (backing.cardTrouble === null ? "up" : "down") : "starting");
  const warnings = [...backing.warnings, ...(mcp?.base.warnings ?? []), ...backing.defects.lines()];
  return {
    name: server.name,
    kind: server.kind,
    status,
    reason: link === undefined ? backing.cardTrouble : link.reason,
    since: secondsTime(link?.sinceMs ?? backing.sinceMs),
    tools: mcp?.base.last("tools")?.items.length ?? 0,
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

/** A tool as `/state` shows it. */
export function shownTool(tool: JsonObject): { name: unknown; description: unknown; parameters: unknown } {
  return {
    name: tool["name"],
    description: tool["description"] ?? "",
    parameters: tool["inputSchema"] ?? { type: "object", properties: {} },
  };
}
