import {
  type DeploymentRecord,
  type JsonObject,
  type ListedTool,
  universeNow,
  writtenInstant,
  writtenLocal,
  zoneOffsetMinutes,
} from "@agent-env/protocol";
import { browseUrl, prefixWarning } from "./browse-url.ts";
import type { Clock } from "./clock.ts";

/** The name under which the gateway's own tools are listed in `/state`. */
export const GATEWAY_SOURCE = "gateway";
export const GET_TIME_NAME = "get_time";

const LIST_WEBSITE_URLS: ListedTool = {
  name: "list_website_urls",
  description: "List available website URLs that can be browsed.",
  inputSchema: { type: "object", properties: {} },
  outputSchema: { type: "object", properties: { result: { type: "array", items: { type: "string" } } }, required: ["result"] },
  annotations: { readOnlyHint: true },
};

const GET_TIME: ListedTool = {
  name: GET_TIME_NAME,
  description:
    "Get the current date and time. Take every date and time from this tool, never from the clock of the machine you run on: " +
    "that may be another. The answer is in UTC; with time_zone it also has the local time there.",
  inputSchema: {
    type: "object",
    properties: { time_zone: { type: "string", description: "An IANA time zone name, such as America/New_York." } },
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true },
};

/** What the gateway's own tools tell of. */
export type GatewayFacts = { readonly record: DeploymentRecord; readonly clock: Clock; readonly now: () => number };

/** What a gateway-owned tool came to, in the two forms in which it is told. */
export type GatewayResult = { readonly mcp: JsonObject; readonly step: JsonObject };

/** The tools that the gateway serves itself. `get_time` is there only while the clock is armed, and a server's own wins over it. */
export function gatewayTools({ record, clock }: Pick<GatewayFacts, "record" | "clock">, serverHasTime: boolean): readonly ListedTool[] {
  return [...(browsable(record).length === 0 ? [] : [LIST_WEBSITE_URLS]), ...(clock.armed === null || serverHasTime ? [] : [GET_TIME])];
}

/** The result of a gateway-owned tool. */
export function callGatewayTool(facts: GatewayFacts, name: string, args: JsonObject): GatewayResult {
  return name === GET_TIME_NAME ? time(facts, args["time_zone"]) : websites(facts.record);
}

function websites(record: DeploymentRecord): GatewayResult {
  const sites = browsable(record);
  const urls = sites.map(({ url }) => url);
  const warnings = sites.flatMap(({ warning }) => (warning === null ? [] : [{ type: "text", text: `warning: ${warning}` }]));
  const content = [...urls.map((text) => ({ type: "text", text })), ...warnings];
  const step = { content: [{ type: "text", text: JSON.stringify(urls) }, ...warnings], isError: false };
  return { mcp: { content, structuredContent: { result: urls }, isError: false }, step };
}

function time({ clock: { armed }, now }: GatewayFacts, zone: unknown): GatewayResult {
  if (armed === null) return alike(textResult(`Unknown tool: ${GET_TIME_NAME}`, true));
  const instant = universeNow(armed, now());
  const current_time = `${writtenInstant(instant).slice(0, 19)}Z`;
  if (zone === undefined || zone === null) return alike(textResult(JSON.stringify({ current_time })));
  const offset = typeof zone === "string" ? zoneOffsetMinutes(zone, instant) : null;
  if (offset === null) {
    const text = `unknown time zone ${JSON.stringify(zone)}: pass an IANA time zone name such as "America/New_York"`;
    return alike(textResult(text, true));
  }
  return alike(textResult(JSON.stringify({ current_time, time_zone: zone, local_time: writtenLocal(instant, offset) })));
}

function textResult(text: string, isError = false): JsonObject {
  return { content: [{ type: "text", text }], isError };
}

function alike(result: JsonObject): GatewayResult {
  return { mcp: result, step: result };
}

/** The sites that the agent's browser can open. */
function browsable(record: DeploymentRecord): { readonly url: string; readonly warning: string | null }[] {
  const sites = record.servers.filter(({ kind, frontend_url }) => kind === "website" && frontend_url !== undefined);
  return sites.map((site) => {
    const url = browseUrl(record, site);
    return { url, warning: prefixWarning(record, site, url) };
  });
}
