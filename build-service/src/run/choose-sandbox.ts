import { UserError } from "@agent-env/protocol";
import { engineProblem } from "../images/engine.ts";
import type { SandboxName } from "../providers/capabilities.ts";
import { isSandboxName, sandboxProviders } from "../providers/sandbox/registry.ts";

export type ChosenSandbox = { readonly name: SandboxName; readonly reason: string /** By name, not `auto`. */; readonly isAsked: boolean };

/** The sandbox that a deploy uses: what the run was asked for, else the step's own `sandbox_type`, else the run's (5-run §2.1). */
export function sandboxOf(own: unknown, run: ChosenSandbox): string {
  return run.isAsked || typeof own !== "string" ? run.name : own;
}

/** What names the sandbox: `--sandbox`, null where it wasn't given, and `[sandbox] default`. */
export type AskedSandbox = { readonly option: string | null; readonly setting: string };

/**
 * The sandbox that is asked for; `auto` is `local` when a Docker Engine answers within 2 s, else `process` (5-run §2.2).
 * Throws a UserError (exit code 2) for a name that isn't known.
 */
export async function chooseSandbox({ option, setting }: AskedSandbox): Promise<ChosenSandbox> {
  const asked = option ?? setting;
  if (isSandboxName(asked)) {
    return { name: asked, reason: option === null ? "[sandbox] default" : "asked for", isAsked: option !== null };
  }
  if (asked === "auto") {
    const problem = await engineProblem();
    return problem === null
      ? { name: "local", reason: "a Docker Engine answers", isAsked: false }
      : { name: "process", reason: `no Docker Engine answers: ${problem.why}`, isAsked: false };
  }
  const known = ["auto", ...sandboxProviders().map(({ capabilities }) => capabilities.name)];
  throw new UserError({
    what: `${option === null ? "[sandbox] default" : "--sandbox"}: ${JSON.stringify(asked)} is not known`,
    why: `it takes ${known.join(", ")}`,
    next: "agent-env doctor says what each needs here",
    exitCode: 2,
  });
}
