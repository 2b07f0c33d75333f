import { applyRule, type RoleRules } from "@agent-env/protocol";
import type { Sql } from "../seam.ts";

/** Who may see and call which tool, as it was last said. */
export class RoleBook {
  readonly #sql: Sql;
  readonly #changed: () => void;
  #rules: RoleRules;

  constructor(options: { sql: Sql; changed: () => void }) {
    this.#sql = options.sql;
    this.#changed = options.changed;
    this.#rules = readRoleRules(options.sql);
  }

  get rules(): RoleRules {
    return this.#rules;
  }

  /** Enables or disables tools for a role, one after the other. Names of tools and roles that don't exist are as good as others. */
  apply({ role, tools, enabled }: { role: string; tools: readonly string[]; enabled: boolean }): void {
    let rules = this.#rules;
    for (const tool of tools) rules = applyRule(rules, { role, tool, enabled });
    const rows = [...rules].flatMap(([name, own]) => [...own].map(([tool, value]) => [name, tool, value ? 1 : 0] as const));
    this.#sql.transaction(() => {
      this.#sql.exec("DELETE FROM role_rules");
      for (const row of rows) this.#sql.exec("INSERT INTO role_rules (role, tool, enabled) VALUES (?, ?, ?)", ...row);
    });
    this.#rules = rules;
    this.#changed();
  }
}

function readRoleRules(sql: Sql): RoleRules {
  const rules = new Map<string, Map<string, boolean>>();
  for (const { role, tool, enabled } of sql.exec("SELECT role, tool, enabled FROM role_rules ORDER BY rowid")) {
    const own = rules.get(String(role)) ?? new Map<string, boolean>();
    rules.set(String(role), own.set(String(tool), enabled !== 0));
  }
  return rules;
}
