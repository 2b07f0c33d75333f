import { shownRules } from "@agent-env/protocol";
import { Hono } from "hono";
import type { Deployment } from "../core/deployment/deployment.ts";
import { GATEWAY_SOURCE } from "../core/deployment/gateway-tools.ts";
import { serverState, shownTool } from "../core/deployment/state.ts";
import { LIST_KINDS } from "../core/mcp/item-kinds.ts";

/** `GET /state`: every tool, hidden and disabled ones too, and what is wrong. Always 200 (3-wire §gateway). */
export function stateRoute(deployment: Deployment): Hono {
  const app = new Hono({ strict: false });
  app.get("/state", async (context) => {
    const { tools, prompts, resources } = await deployment.freshCatalogue({ kinds: LIST_KINDS });
    const own = deployment.ownTools();
    const exporter = deployment.host.observer?.exporter;
    const servers = deployment.serving().map(({ name, mcp }) => ({ name, tools: (mcp.base.last("tools")?.items ?? []).map(shownTool) }));
    return context.json({
      mcp_servers: [...(own.length === 0 ? [] : [{ name: GATEWAY_SOURCE, tools: own.map(shownTool) }]), ...servers],
      changelog_id: (await deployment.host.changes?.lastId()) ?? null,
      roles: Object.fromEntries([...deployment.rules].map(([role, rules]) => [role, shownRules(rules)])),
      tool_name_clashes: Object.fromEntries(tools.clashes),
      ...(prompts.clashes.size === 0 ? {} : { prompt_name_clashes: Object.fromEntries(prompts.clashes) }),
      ...(resources.clashes.size === 0 ? {} : { resource_uri_clashes: Object.fromEntries(resources.clashes) }),
      servers: deployment.backings.map(serverState),
      ...(exporter == null ? {} : { spans: exporter.exported }),
    });
  });
  return app;
}
