import type { RoleRules } from "@agent-env/protocol";
import type { Sql } from "../seam.ts";

/** The role rules as they were last set. */
export function readRoleRules(sql: Sql): RoleRules {
  const rules = new Map<string, Map<string, boolean>>();
  for (const { role, tool, enabled } of sql.exec("SELECT role, tool, enabled FROM role_rules")) {
    const own = rules.get(String(role)) ?? new Map<string, boolean>();
    rules.set(String(role), own.set(String(tool), enabled !== 0));
  }
  return rules;
}
