import { UserError } from "@agent-env/protocol";
import { engineProblem } from "../images/engine.ts";
import type { Sandbox, Sandboxes } from "../providers/sandbox/sandboxes.ts";

/** Where a deploy is tried, in this order: the next one when it fails on one (5-run §2.3). */
export type Chain = readonly [Sandbox, ...Sandbox[]];

export type ChosenSandbox = {
  readonly chain: Chain;
  readonly reason: string;
  /** By name, not `auto`. */
  readonly isAsked: boolean;
};

/** What `--sandbox` takes. */
export const SANDBOX_HELP =
  "auto, local (containers), process (no Docker, no isolation), a plugin's or a preset; a,b: the next where one fails; else [sandbox] default";

/** What names the sandbox: `--sandbox`, null where it wasn't given, and `[sandbox] default`. */
export type AskedSandbox = { readonly option: string | null; readonly setting: string };

/** A chain as it is written: `local`, `fly,process`. */
export function chainName(chain: Chain): string {
  return chain.map(({ name }) => name).join(",");
}

/** The sandboxes that a deploy uses: what the run was asked for, else the step's own `sandbox_type`, else the run's (5-run §2.1). */
export async function sandboxOf(own: unknown, run: ChosenSandbox, sandboxes: Sandboxes): Promise<Chain | { readonly unknown: string }> {
  return run.isAsked || typeof own !== "string" ? run.chain : chainOf(own, sandboxes);
}

/**
 * The sandbox that is asked for; `auto` is `local` when a Docker Engine answers within 2 s, else `process` (5-run §2.2).
 * Throws a UserError (exit code 2) for a name that isn't known, or a preset that can't be used.
 */
export async function chooseSandbox({ option, setting }: AskedSandbox, sandboxes: Sandboxes): Promise<ChosenSandbox> {
  const asked = option ?? setting;
  if (asked === "auto") {
    const { sandbox, reason } = await automatic(sandboxes);
    return { chain: [sandbox], reason, isAsked: false };
  }
  const chain = await chainOf(asked, sandboxes);
  if (!("unknown" in chain)) return { chain, reason: option === null ? "[sandbox] default" : "asked for", isAsked: option !== null };
  const { near, known } = sandboxes.unknown(chain.unknown);
  throw new UserError({
    what: `${option === null ? "[sandbox] default" : "--sandbox"}: ${JSON.stringify(chain.unknown)} is not known${near}`,
    why: `it takes auto, ${known}`,
    next: "agent-env doctor says what each needs here",
    exitCode: 2,
  });
}

/** Each of a comma list once, in its order; or the first name that nobody has. */
async function chainOf(asked: string, sandboxes: Sandboxes): Promise<Chain | { readonly unknown: string }> {
  const found = new Map<string, Sandbox>();
  for (const name of asked.split(",").map((part) => part.trim())) {
    const sandbox = name === "auto" ? (await automatic(sandboxes)).sandbox : sandboxes.find(name);
    if (sandbox === null) return { unknown: name };
    found.set(sandbox.name, sandbox);
  }
  const [first, ...others] = found.values();
  if (first === undefined) throw new Error("a text that is split has a part");
  return [first, ...others];
}

async function automatic(sandboxes: Sandboxes): Promise<{ readonly sandbox: Sandbox; readonly reason: string }> {
  const problem = await engineProblem();
  const sandbox = sandboxes.find(problem === null ? "local" : "process");
  if (sandbox === null) throw new Error("the built-in sandboxes are known");
  return { sandbox, reason: problem === null ? "a Docker Engine answers" : `no Docker Engine answers: ${problem.why}` };
}
