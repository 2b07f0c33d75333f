import { Hono } from "hono";
import type { Gateway } from "../core/gateway.ts";
import { readObject } from "./answers.ts";
import type { AppEnv } from "./env.ts";

/** `POST /step` (3-wire §gateway). */
export function stepRoute({ deployment, step }: Gateway): Hono<AppEnv> {
  const app = new Hono<AppEnv>({ strict: false });
  app.post("/step", async (context) => {
    const read = await readObject(context, deployment.settings.maxMessageBytes);
    if ("problem" in read) return context.json({ error: read.problem }, read.status);
    const { status, body } = await step.answer(context.env.caller, read.object);
    return Response.json(body, { status });
  });
  return app;
}
