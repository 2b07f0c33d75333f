import { AuthorError } from "./author-error.ts";

/** The name that a tool or prompt is served under: braces may hold `environment_name` only (3-wire §mcp). */
export function servedName(kind: "tool" | "prompt", named: string, environment: string): string {
  const name = named.replaceAll("{environment_name}", () => environment);
  if (/[{}]/.test(name)) {
    throw new AuthorError({
      what: `${kind} ${JSON.stringify(named)} has a brace in its name`,
      why: `only {environment_name} is replaced in a ${kind}'s name`,
      next: `write "{environment_name}_…", which is served as "${environment}_…"`,
    });
  }
  if (!/^[A-Za-z0-9_.-]{1,128}$/.test(name)) {
    throw new AuthorError({
      what: `${kind} ${JSON.stringify(name)} can't be named so`,
      why: "MCP clients take 1 to 128 letters, digits, `_`, `-` and `.`",
      next: "rename it",
    });
  }
  return name;
}
