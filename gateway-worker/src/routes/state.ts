import { shownRules } from "@agent-env/protocol";
import { Hono } from "hono";
import type { Deployment } from "../core/deployment/deployment.ts";
import { GATEWAY_SOURCE, gatewayTools } from "../core/deployment/gateway-tools.ts";
import { serverState, shownTool } from "../core/deployment/state.ts";

/** `GET /state`: every tool, hidden and disabled ones too, and what is wrong. Always 200 (3-wire §gateway). */
export function stateRoute(deployment: Deployment): Hono {
  const app = new Hono({ strict: false });
  app.get("/state", async (context) => {
    const { clashes } = await deployment.freshCatalogue();
    const own = gatewayTools(deployment.host.record());
    const servers = deployment.backings.flatMap(({ server, mcp }) =>
      mcp === null ? [] : [{ name: server.name, tools: (mcp.list.last?.tools ?? []).map(shownTool) }],
    );
    return context.json({
      mcp_servers: [...(own.length === 0 ? [] : [{ name: GATEWAY_SOURCE, tools: own.map(shownTool) }]), ...servers],
      changelog_id: null,
      roles: Object.fromEntries([...deployment.rules].map(([role, rules]) => [role, shownRules(rules)])),
      tool_name_clashes: Object.fromEntries(clashes),
      servers: deployment.backings.map(serverState),
    });
  });
  return app;
}
