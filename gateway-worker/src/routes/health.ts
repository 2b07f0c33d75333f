import { Hono } from "hono";
import type { Deployment } from "../core/deployment/deployment.ts";
import { waitingFor } from "../core/deployment/start.ts";
import { serverState } from "../core/deployment/state.ts";

/** `GET /health`, and the same as `/ready`: 503 while starting, with what is waited for. Never an address in it. */
export function healthRoute(deployment: Deployment): Hono {
  const app = new Hono({ strict: false });
  for (const path of ["/health", "/ready"]) {
    app.get(path, (context) => {
      if (deployment.notReady !== null)
        return context.json({ status: "starting", waiting: waitingFor(deployment) }, 503, { "retry-after": "1" });
      const down = deployment.backings.map(serverState).filter(({ status }) => status !== "up");
      if (down.length === 0) return context.json({ status: "ok" });
      const servers = down.map(({ name, kind, status, reason, since }) => ({ name, kind, status, reason, since }));
      return context.json({ status: "degraded", servers });
    });
  }
  return app;
}
