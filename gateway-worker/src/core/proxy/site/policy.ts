/** Whether a page's Content-Security-Policy lets an inline script of ours run, and under which nonce. */
export type InlineScripts = { readonly are: "allowed"; readonly nonce: string | null } | { readonly are: "forbidden" };

export const ALLOWED: InlineScripts = { are: "allowed", nonce: null };

/**
 * What a list of policies (one field's value, or a `<meta>`'s) says of inline scripts. A nonce serves us too; a policy that
 * forbids them without one is left as it is (CSP3 §6.7.3).
 */
export function inlineScripts(policies: string): InlineScripts {
  return policies.split(",").map(onePolicy).reduce(both, ALLOWED);
}

/** What two policies allow together: all that there are hold. */
export function both(one: InlineScripts, other: InlineScripts): InlineScripts {
  if (one.are === "forbidden" || other.are === "forbidden") return { are: "forbidden" };
  if (one.nonce !== null && other.nonce !== null && one.nonce !== other.nonce) return { are: "forbidden" };
  return { are: "allowed", nonce: one.nonce ?? other.nonce };
}

function onePolicy(policy: string): InlineScripts {
  const directives = new Map<string, readonly string[]>();
  for (const directive of policy.split(";")) {
    const [name = "", ...sources] = directive.trim().split(/\s+/);
    if (name !== "" && !directives.has(name.toLowerCase())) directives.set(name.toLowerCase(), sources);
  }
  if (directives.has("sandbox") && !directives.get("sandbox")?.some((flag) => flag.toLowerCase() === "allow-scripts"))
    return { are: "forbidden" };
  const sources = directives.get("script-src-elem") ?? directives.get("script-src") ?? directives.get("default-src");
  if (sources === undefined) return ALLOWED;
  const nonce = sources.map((source) => /^'nonce-([\w+/=-]+)'$/i.exec(source)?.[1]).find((found) => found !== undefined);
  if (nonce !== undefined) return { are: "allowed", nonce };
  const isStrict = sources.some((source) => /^'(sha(256|384|512)-|strict-dynamic')/i.test(source));
  return !isStrict && sources.some((source) => source.toLowerCase() === "'unsafe-inline'") ? ALLOWED : { are: "forbidden" };
}
