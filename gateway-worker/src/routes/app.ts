import { type GatewayError, notFound, wrongMethod } from "@agent-env/protocol";
import { Hono } from "hono";
import { clientFaultError } from "../core/client-fault.ts";
import type { Gateway } from "../core/gateway.ts";
import { ClientFault } from "../core/seam.ts";
import { cardRoute } from "./card.ts";
import { changesRoute } from "./changes.ts";
import { clockRoute } from "./clock.ts";
import { dataPlaneRoute } from "./data-plane.ts";
import type { AppEnv } from "./env.ts";
import { healthRoute } from "./health.ts";
import { stateRoute } from "./state.ts";
import { stepRoute } from "./step.ts";
import { toolsRoute } from "./tools.ts";
import { trajectoryRoute } from "./trajectory.ts";
import { triggersRoute } from "./triggers.ts";

/** All routes of a deployment but `/mcp`, `/svc` and `/website`. A wrong method is 405 with `Allow`, an unknown route 404. */
export function createApp(gateway: Gateway): Hono<AppEnv> {
  const { deployment } = gateway;
  const app = new Hono<AppEnv>({ strict: false });
  app.route("/", healthRoute(deployment));
  app.route("/", cardRoute(deployment));
  app.route("/", stateRoute(deployment));
  app.route("/", stepRoute(gateway));
  app.route("/", toolsRoute(deployment));
  app.route("/", clockRoute(deployment));
  app.route("/", triggersRoute(deployment));
  app.route("/", trajectoryRoute(deployment));
  app.route("/", changesRoute(deployment));
  app.route("/", dataPlaneRoute(deployment));
  for (const path of new Set(app.routes.map((route) => route.path))) {
    const methods = app.routes.filter((route) => route.path === path).map((route) => route.method);
    const allow = methods.includes("GET") ? ["GET", "HEAD", ...methods.filter((method) => method !== "GET")] : methods;
    app.all(path, () => errorResponse(wrongMethod(allow.join(", "))));
  }
  return headed(app);
}

/** The same app, with what the heads of its answers hold besides. */
function headed(app: Hono<AppEnv>): Hono<AppEnv> {
  const whole = new Hono<AppEnv>({ strict: false });
  whole.use(async (context, next) => {
    await next();
    const { status, headers } = context.res;
    for (const [name, value] of context.env.fields(status)) headers.append(name, value);
  });
  whole.route("/", app);
  whole.onError((error, context) => {
    if (error instanceof ClientFault) return errorResponse(clientFaultError(error));
    console.error(error);
    return context.json({ error: "internal error" }, 500);
  });
  whole.notFound(() => errorResponse(notFound()));
  return whole;
}

function errorResponse(error: GatewayError): Response {
  return Response.json(error.body, {
    status: error.status,
    headers: error.headers.map(([name, value]): [string, string] => [name, value]),
  });
}
