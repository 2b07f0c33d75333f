import type { PlannedWrite } from "../bundle/plan.ts";
import type { Planned } from "./run.ts";

const FRAME = "Dry run: nothing is written or run.";

/** What a run would do, as its own lines (5-run §11.5). */
export function dryRunText({ plan, sandbox }: Pick<Planned, "plan" | "sandbox">, setUpFirst: readonly string[]): string {
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
          `${entry}: v${version}, ${sandbox.name === "local" ? "built here" : `run from its source on ${sandbox.name}`}`,
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

/** `envs/items: v2 (files changed: server.py)`, or `envs/items: v2, unchanged`. */
function writeLine({ entry, version, reasons }: PlannedWrite): string {
  return `${entry}: v${version}${reasons.length === 0 ? ", unchanged" : ` (${reasons.join("; ")})`}`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
}
