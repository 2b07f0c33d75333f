import { applyRule, DEFAULT_ROLE, HIDDEN_META_KEY, isAllowed, type RoleRules, shownRules } from "@agent-env/protocol";
import { z } from "zod";
import type { ListedTool } from "./tools.ts";

/** A rule as `/tools/disable` and `/tools/enable` take it (3-wire §roles). */
export const ruleInput = {
  role: z.string().min(1),
  tools: z.union([z.array(z.string()), z.literal("*")]),
};
type RuleInput = z.output<z.ZodObject<typeof ruleInput>>;

/** Which role may see and call which tool of a server that has no gateway before it. */
export class ToolAccess {
  #rules: RoleRules = new Map();

  /** Enables or disables tools for a role, and gives that role's own rules. */
  set({ role, tools }: RuleInput, enabled: boolean) {
    for (const tool of tools === "*" ? ["*"] : tools) this.#rules = applyRule(this.#rules, { role, tool, enabled });
    return { role, ...shownRules(this.#rules.get(role)) };
  }

  allows(role: string | null, { name, _meta }: ListedTool): boolean {
    return isAllowed(this.#rules, role ?? DEFAULT_ROLE, { name, hidden: _meta?.[HIDDEN_META_KEY] === true });
  }
}
