import { joined } from "@agent-env/protocol";
import { type Context, Hono } from "hono";
import { CLOCK_TIME_PATH } from "../core/auth/clock-key.ts";
import type { Deployment } from "../core/deployment/deployment.ts";
import { GET_TIME_NAME } from "../core/deployment/gateway-tools.ts";
import { readObject } from "./answers.ts";
import type { AppEnv } from "./env.ts";

/** The universe's clock (3-wire §clock). */
export function clockRoute(deployment: Deployment): Hono<AppEnv> {
  const { clock, host, settings } = deployment;
  const app = new Hono<AppEnv>({ strict: false });
  app.put("/clock/set-time", async (context) => {
    const read = await readObject(context, settings.maxMessageBytes);
    if ("problem" in read) return context.json({ ok: false, error: read.problem }, read.status);
    const { virtual_time: virtualTime, virtual_seconds_per_real_second: rate } = read.object;
    if (deployment.serversHave(GET_TIME_NAME)) {
      const error = `a server has a tool ${JSON.stringify(GET_TIME_NAME)}, which would tell another time than the clock`;
      return context.json({ ok: false, error }, 409);
    }
    const refused = clock.arm({ virtualTime, rate });
    if (refused !== null) return context.json({ ok: false, error: refused.problem }, 400);
    await host.committed();
    return context.json(clock.shown());
  });
  app.post("/clock/clear", async (context) => {
    clock.clear();
    await host.committed();
    return context.json({ ok: true, armed: false });
  });
  app.get(CLOCK_TIME_PATH, (context) => {
    const virtual_time = clock.written();
    return virtual_time === null ? context.json({ ok: false, error: "clock not armed" }, 404) : context.json({ virtual_time });
  });
  app.get("/clock/state", async (context) => {
    if (clock.armed === null) return context.json(clock.shown());
    const key = host.record().auth.mode === "token" ? await deployment.clockKey.query() : "";
    return context.json({ ...clock.shown(), env_get_time_url: joined(addressForServers(deployment, context), CLOCK_TIME_PATH) + key });
  });
  return app;
}

/** The gateway's address as the deployment's servers reach it. */
function addressForServers({ host }: Deployment, context: Context<AppEnv>): string {
  const asAsked = new URL(context.req.url).origin + (context.env?.base ?? "");
  return host.ownUrl?.() ?? host.record().gateway_url ?? asAsked;
}
