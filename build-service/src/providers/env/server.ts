import { CARD_PATH, type Card } from "@agent-env/protocol";
import { allReady, type Check } from "../../deploy/all-ready.ts";
import { cardAttempt, mcpUrl } from "../../deploy/gateway-answers.ts";
import { toolNames } from "../../deploy/mcp-tools.ts";
import type { Attempt } from "../../deploy/readiness.ts";
import { addressOf, deployedServers, serverServices, serverVariables } from "../../deploy/topology.ts";
import { ENV_PROVIDERS } from "../capabilities.ts";
import type { EnvProvider } from "./provider.ts";

/** Budgets of 3-wire §topology, without a gateway. */
const CARD_BUDGET_S = 180;
const TOOLS_BUDGET_S = 60;

/** One MCP server by itself: its own card and endpoint are what callers use. */
export const serverProvider: EnvProvider = {
  capabilities: ENV_PROVIDERS.server,
  startsGateway: () => false,
  async require() {},
  services: (env) => serverServices(env, true),
  variables: (service, addresses) => serverVariables(service, addresses),
  withServers: (draft, env, _mode, addresses) => ({
    ...draft,
    servers: deployedServers(env, addresses, "outside", draft.deployment_id ?? ""),
  }),
  async ready(started) {
    const { context, deploymentId, options } = started;
    const [service] = started.services;
    if (service === undefined || started.services.length !== 1) throw new Error("the provider server starts one server");
    const url = addressOf(started.addresses, service.name).outside;
    if (url === null) throw new Error("a server without a gateway is published");

    let card: Card | null = null;
    const attempt = cardAttempt(url, (found) => {
      if (found.name !== service.name)
        return `its card is named ${JSON.stringify(found.name)}, and ENVIRONMENT_NAME is ${JSON.stringify(service.name)}`;
      card = found;
      return null;
    });
    const check = (name: string, budgetSeconds: number, attempt: Attempt): Check => ({
      service: service.name,
      from: "here",
      name,
      budgetSeconds,
      attempt,
    });
    await allReady(started, [check(CARD_PATH, CARD_BUDGET_S, attempt)]);
    if (card === null) throw new Error("a card's probe ended well without a card");

    const endpoint = mcpUrl(url, card);
    await allReady(started, [check("tools/list", TOOLS_BUDGET_S, async (signal) => toolsReason(await toolNames(endpoint, signal)))]);
    context.emit({ kind: "deploy", entry: deploymentId, phase: "ready", message: `${options.env.id} is up at ${url}` });
    return { url, card, fields: {} };
  },
};

/** Null when there is a tool, and no two of one name. */
export function toolsReason(names: readonly string[]): string | null {
  if (names.length === 0) return "it lists no tools";
  const twice = [...new Set(names.filter((name, at) => names.indexOf(name) !== at))];
  return twice.length === 0 ? null : `it lists ${twice.join(", ")} more than once`;
}
