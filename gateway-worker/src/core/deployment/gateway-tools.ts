import { type DeploymentRecord, type JsonObject, joined, type ListedTool } from "@agent-env/protocol";

/** The name under which the gateway's own tools are listed in `/state`. */
export const GATEWAY_SOURCE = "gateway";

const LIST_WEBSITE_URLS: ListedTool = {
  name: "list_website_urls",
  description: "List available website URLs that can be browsed.",
  inputSchema: { type: "object", properties: {} },
  outputSchema: { type: "object", properties: { result: { type: "array", items: { type: "string" } } }, required: ["result"] },
  annotations: { readOnlyHint: true },
};

/** The tools that the gateway serves itself. */
export function gatewayTools(record: DeploymentRecord): readonly ListedTool[] {
  return browsable(record).length === 0 ? [] : [LIST_WEBSITE_URLS];
}

/** The result of a gateway-owned tool. */
export function callGatewayTool(record: DeploymentRecord): JsonObject {
  const urls = browsable(record);
  return { content: urls.map((text) => ({ type: "text", text })), structuredContent: { result: urls }, isError: false };
}

/** Addresses that the agent's browser can open: the record's, else the site's own host, else the gateway's path. */
function browsable(record: DeploymentRecord): string[] {
  return record.servers
    .filter(({ kind, frontend_url }) => kind === "website" && frontend_url !== undefined)
    .map(
      ({ name, frontend_url }) =>
        record.browse_urls[name] ?? record.website_frontend_urls[name] ?? joined(frontend_url ?? "", "").replace(/\/$/, ""),
    );
}
