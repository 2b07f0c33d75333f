import { isJsonObject, type JsonObject, shownRules, WILDCARD } from "@agent-env/protocol";
import { Hono } from "hono";
import type { Deployment } from "../core/deployment/deployment.ts";
import { readObject } from "./answers.ts";
import type { AppEnv } from "./env.ts";

type Rule = { readonly role: string; readonly tools: readonly string[] };

/** `POST /tools/disable` and `/tools/enable` (3-wire §roles). */
export function toolsRoute(deployment: Deployment): Hono<AppEnv> {
  const app = new Hono<AppEnv>({ strict: false });
  for (const verb of ["disable", "enable"]) {
    app.post(`/tools/${verb}`, async (context) => {
      const read = await readObject(context, deployment.settings.maxMessageBytes);
      if ("problem" in read) return context.json({ error: read.problem }, read.status);
      const rule = ruleIn(read.object);
      if ("problem" in rule) return context.json({ error: rule.problem }, 400);
      deployment.roles.apply({ ...rule, enabled: verb === "enable" });
      await deployment.host.committed();
      return context.json({ role: rule.role, ...shownRules(deployment.rules.get(rule.role)) });
    });
  }
  return app;
}

/** The role and the tools that a body names. */
export function ruleIn(body: unknown): Rule | { readonly problem: string } {
  const { role, tools }: JsonObject = isJsonObject(body) ? body : {};
  if (typeof role !== "string" || role === "") return { problem: "Missing or invalid 'role' field" };
  if (tools === WILDCARD) return { role, tools: [WILDCARD] };
  if (Array.isArray(tools) && tools.every((tool) => typeof tool === "string")) return { role, tools };
  return { problem: "'tools' must be a list of strings or the string '*'" };
}
