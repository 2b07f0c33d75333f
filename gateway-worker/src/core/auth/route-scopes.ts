import { CARD_PATH, type Scope } from "@agent-env/protocol";

/** What a token needs for a route: a scope, any token of the deployment, or none at all. */
export type RouteScope = Scope | "any" | "none";

/**
 * Every route of a deployment but `/svc` and the sites (3-wire §gateway, routes). What isn't here is 404, whatever the app
 * knows: a route that was forgotten is closed, not open.
 */
export const ROUTE_SCOPES: ReadonlyMap<string, RouteScope> = new Map<string, RouteScope>([
  ["/health", "none"],
  ["/ready", "none"],
  [CARD_PATH, "any"],
  ["/mcp", "tools"],
  ["/step", "tools"],
  ["/agentenv", "control"],
  ["/tools/disable", "control"],
  ["/tools/enable", "control"],
  ["/clock/set-time", "control"],
  ["/clock/clear", "control"],
  ["/clock/state", "control"],
  ["/clock/time", "read"],
  ["/triggers/register", "control"],
  ["/triggers/remove", "control"],
  ["/triggers/clear", "control"],
  ["/triggers/state", "control"],
  ["/state", "read"],
  ["/trajectory", "read"],
  ["/changes", "read"],
]);
