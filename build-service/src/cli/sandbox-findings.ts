import { UserError } from "@agent-env/protocol";
import type { Installed } from "../plugins/installed.ts";
import { chooseSandbox } from "../run/choose-sandbox.ts";
import type { Finding } from "./commands/doctor.ts";

/**
 * What each sandbox needs here, found or missing: those of plugins and presets too, and those that plugins were to add. One
 * is required when `[sandbox] default` names it, and nothing else of that chain works.
 */
export async function sandboxFindings(setting: string, { sandboxes, registry }: Installed): Promise<Finding[]> {
  const seen = await Promise.all(
    sandboxes.all().map(async ({ name, provider }) => ({ name, provider, missing: await provider.unavailable() })),
  );
  const chosen = await chosenOf(setting, { sandboxes });
  const isStuck = !("finding" in chosen) && chosen.names.every((name) => seen.some((one) => one.name === name && one.missing !== null));
  const usable = seen.map(({ name, provider, missing }): Finding => {
    const { runs, isolates } = provider.capabilities;
    return {
      name: `sandbox ${name}`,
      ok: missing === null,
      detail: missing === null ? `${runs}; isolates ${isolates}` : missing.why,
      next: missing?.next ?? null,
      required: isStuck && chosen.names.includes(name),
    };
  });
  const broken = sandboxes.broken().map(({ name, error }) => missing(name, `${error.message}: ${error.why}`, error.next));
  const lost = registry.unavailable
    .filter(({ what, name }) => what === "sandbox provider" && !sandboxes.names.includes(name))
    .map(({ name, why }) => missing(name, why, "agent-env plugin check"));
  return [...usable, ...broken, ...lost, ...("finding" in chosen ? [chosen.finding] : [])];
}

function missing(name: string, detail: string, next: string): Finding {
  return { name: `sandbox ${name}`, ok: false, detail, next, required: false };
}

/** The chain that `[sandbox] default` names; empty for `auto`, which takes what there is. */
async function chosenOf(
  setting: string,
  { sandboxes }: Pick<Installed, "sandboxes">,
): Promise<{ readonly names: readonly string[] } | { readonly finding: Finding }> {
  if (setting === "auto") return { names: [] };
  try {
    const { chain } = await chooseSandbox({ option: null, setting }, sandboxes);
    return { names: chain.map(({ name }) => name) };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const detail = `${error.message}: ${error.why}`;
    return { finding: { name: "[sandbox] default", ok: false, detail, next: "name another in the configuration", required: true } };
  }
}
