import { Hono } from "hono";
import type { Deployment } from "../core/deployment/deployment.ts";
import { idsIn } from "../core/triggers/registration.ts";
import { readObject } from "./answers.ts";
import type { AppEnv } from "./env.ts";

/** What triggers are set from outside (3-wire §triggers). */
export function triggersRoute(deployment: Deployment): Hono<AppEnv> {
  const { triggers, host, settings } = deployment;
  const app = new Hono<AppEnv>({ strict: false });
  app.post("/triggers/register", async (context) => {
    const read = await readObject(context, settings.maxMessageBytes);
    if ("problem" in read) return context.json({ ok: false, error: read.problem }, read.status);
    await deployment.freshCatalogue();
    const outcome = triggers.register(read.object);
    if ("problem" in outcome) return context.json({ ok: false, error: outcome.problem }, 400);
    await host.committed();
    return context.json(outcome);
  });
  app.post("/triggers/remove", async (context) => {
    const read = await readObject(context, settings.maxMessageBytes);
    if ("problem" in read) return context.json({ ok: false, error: read.problem }, read.status);
    const ids = idsIn(read.object);
    if (ids === null) return context.json({ ok: false, error: "ids must be a list of non-empty strings" }, 400);
    const removed = triggers.remove(ids);
    await host.committed();
    return context.json({ ok: true, removed });
  });
  app.post("/triggers/clear", async (context) => {
    triggers.clear();
    await host.committed();
    return context.json({ ok: true });
  });
  app.get("/triggers/state", (context) => context.json(triggers.shown()));
  return app;
}
