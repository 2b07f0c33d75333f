import { DATA_PLANE_PATH, messageTooLarge } from "@agent-env/protocol";
import { Hono } from "hono";
import { DataPlane } from "../core/deployment/data-plane.ts";
import type { Deployment } from "../core/deployment/deployment.ts";
import { boundedText } from "./answers.ts";
import type { AppEnv } from "./env.ts";

/** `POST /agentenv` (3-wire §plane). */
export function dataPlaneRoute(deployment: Deployment): Hono<AppEnv> {
  const plane = new DataPlane(deployment);
  const app = new Hono<AppEnv>({ strict: false });
  app.post(DATA_PLANE_PATH, async (context) => {
    const { maxMessageBytes } = deployment.settings;
    const body = await boundedText(context.req.raw.body, maxMessageBytes);
    if (body === null) return context.json(messageTooLarge(maxMessageBytes).body, 413);
    const answer = await plane.answer(context.env.caller.role, body);
    return new Response(answer.body, { status: answer.status, headers: { "content-type": answer.type } });
  });
  return app;
}
