import type { PlannedWrite } from "../bundle/plan.ts";
import { chainName } from "./choose-sandbox.ts";
import type { Planned } from "./run.ts";

const FRAME = "Dry run: nothing is written or run.";

/** What a run would do, as its own lines (5-run §11.5). */
export function dryRunText(
  { plan, sandbox, builder }: Pick<Planned, "plan" | "sandbox" | "builder">,
  setUpFirst: readonly string[],
): string {
  const images = plan.writes.filter(({ source }) => source !== undefined);
  return [
    FRAME,
    ...plan.writes.map(writeLine),
    ...section(
      "Store refs",
      plan.storeRefs.map(({ kind, id, version, pinned }) => `${kind} ${id}: v${version}${pinned ? "" : ", the latest"}`),
    ),
    ...section(
      "Images",
      images.map(
        ({ entry, version }) =>
          `${entry}: v${version}, ${builder === null ? `run from its source on ${chainName(sandbox.chain)}` : "built here"}`,
      ),
    ),
    ...section("Would set up first", setUpFirst),
    ...section(
      "Would run",
      plan.tasks.map(({ path }) => path),
    ),
    ...section(
      "Evals",
      plan.evals.map(({ path, tasks }) => `${path}: ${tasks.length} tasks`),
    ),
    ...section(
      "Not selected",
      plan.leftOut.map((path) => `${path}: --task ${path.replace(/^tasks\/|\.json$/g, "")} runs it`),
    ),
    FRAME,
  ].join("\n");
}

/** What is written, built or fetched before the first task. `gateway` says why that is written; null where it isn't. */
export function setUpLines(gateway: string | null, bases: readonly { readonly reference: string }[]): string[] {
  return [
    ...(gateway === null ? [] : [`the gateway: ${gateway}`]),
    ...bases.map(({ reference }) => `the base image ${reference}: fetched, --pull`),
  ];
}

/** The same for `--json`: what `kind: "plan"` lines don't say. Its keys are a contract. */
export function dryRunResult({ plan, sandbox }: Pick<Planned, "plan" | "sandbox">, setUpFirst: readonly string[]) {
  return {
    dry_run: true,
    bundle: plan.bundle.idRoot,
    sandbox: chainName(sandbox.chain),
    store_refs: plan.storeRefs.map(({ kind, id, version, pinned }) => ({ kind, id, version, pinned })),
    images: plan.writes.flatMap(({ entry, version, source }) =>
      source === undefined ? [] : [{ entry, version, source_digest: source.digest }],
    ),
    set_up_first: setUpFirst,
    tasks: plan.tasks.map(({ path }) => path),
    evals: plan.evals.map(({ path, tasks }) => ({ path, tasks: tasks.length })),
    not_selected: plan.leftOut,
  };
}

/** `envs/items: v2 (files changed: server.py)`, or `envs/items: v2, unchanged`. */
function writeLine({ entry, version, reasons }: PlannedWrite): string {
  return `${entry}: v${version}${reasons.length === 0 ? ", unchanged" : ` (${reasons.join("; ")})`}`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
}
