/** Header in which a caller, or the gateway for it, names its role. */
export const ROLE_HEADER = "AgentEnv-Role";
/** Means "no role". */
export const DEFAULT_ROLE = "default";
/** All roles, or all tools, in a rule. */
export const WILDCARD = "*";
/** Keys in the `_meta` of an MCP request: who calls, and in which session. */
export const ROLE_META_KEY = "agentenv.io/role";
export const SESSION_META_KEY = "agentenv.io/session";
/** Key in the `_meta` of a listed tool; counts only when exactly `true`. */
export const HIDDEN_META_KEY = "agentenv.io/hiddenByDefault";

/** The role that a header value names: trimmed, `default` where there is none. */
export function roleFromHeader(value: string | null | undefined): string {
  const role = value?.trim() ?? "";
  return role === "" ? DEFAULT_ROLE : role;
}

/** A role as a server's tool sees it: null for what is no string, blank, or `default` (3-wire §mcp). */
export function namedRole(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const role = value.trim();
  return role === "" || role === DEFAULT_ROLE ? null : role;
}

/** Per role, whether a tool (or `*`) is enabled. Values are never changed: applying a rule gives new ones. */
export type RoleRules = ReadonlyMap<string, ReadonlyMap<string, boolean>>;
export type RoleRule = { readonly role: string; readonly tool: string; readonly enabled: boolean };

/** The rules after one more (3-wire §roles, first table). */
export function applyRule(rules: RoleRules, rule: RoleRule): RoleRules {
  const only = new Map([[rule.tool, rule.enabled]]);
  if (rule.role === WILDCARD && rule.tool === WILDCARD) return new Map([[WILDCARD, only]]);
  const next = new Map(rules);
  if (rule.tool === WILDCARD) return next.set(rule.role, only);
  const roles = rule.role === WILDCARD ? [...rules.keys(), WILDCARD] : [rule.role];
  for (const role of roles) next.set(role, new Map([...(next.get(role) ?? []), [rule.tool, rule.enabled]]));
  return next;
}

/** A tool as rules name it. A rule on the plain name covers every tool of it, one on the qualified name that tool alone. */
export type RuledTool = { readonly name: string; readonly hidden: boolean; readonly qualified?: string };

/**
 * Whether `role` may use a tool: the role's own entry, else its `*`; then the same of the role `*`; else yes. A tool that
 * is hidden by default skips every `*`-tool entry, and with no entry naming it is disabled.
 */
export function isAllowed(rules: RoleRules, role: string, tool: RuledTool): boolean {
  for (const who of [role, WILDCARD]) {
    const own = rules.get(who);
    const named = own?.get(tool.qualified ?? tool.name) ?? own?.get(tool.name);
    const verdict = named ?? (tool.hidden ? undefined : own?.get(WILDCARD));
    if (verdict !== undefined) return verdict;
  }
  return !tool.hidden;
}

/** One role's own rules as `/tools/*` and `/state` show them, sorted. */
export function shownRules(own: ReadonlyMap<string, boolean> | undefined): { disabled: string[]; allowed: string[] } {
  const named = (enabled: boolean) =>
    [...(own ?? [])]
      .filter(([, value]) => value === enabled)
      .map(([tool]) => tool)
      .sort();
  return { disabled: named(false), allowed: named(true) };
}
