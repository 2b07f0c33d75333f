import { CARD_PATH } from "@agent-env/protocol";
import { Hono } from "hono";
import type { Deployment } from "../core/deployment/deployment.ts";

/** The gateway's card over its servers' (3-wire §composed). */
export function cardRoute(deployment: Deployment): Hono {
  const app = new Hono({ strict: false });
  app.get(CARD_PATH, async (context) => context.json(await deployment.card()));
  return app;
}
