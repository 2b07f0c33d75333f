import { dirname, resolve } from "node:path";
import { lastSegment, PROBLEM_CODES, type Problem, Refused } from "@agent-env/protocol";
import type { TaskEntry } from "../bundle/bundle.ts";
import { parseFileEntry } from "../bundle/parse-file.ts";
import { planOf } from "../bundle/plan.ts";
import { resolveEntry } from "../bundle/resolve.ts";
import { type PreflightRequest, preflight } from "../run/preflight.ts";
import type { Registry } from "../types/registry.ts";
import { lookupHere } from "./bundle-here.ts";
import { checkPut, type PutEntity } from "./put-entity.ts";

/** A file read as one under `tasks/`, to be put under `id`. Throws `Refused` for one that holds no task. */
export function taskFile(put: { readonly file: string; readonly id: string; readonly cwd: string }, registry: Registry): PutEntity {
  const disk = resolve(put.cwd, put.file);
  // The name is a stand-in: a file of any name may be put.
  const { entries, problems } = parseFileEntry("tasks", { name: "task.json", path: put.file, disk, what: "file" }, "@local/put");
  const entry = entries.find((candidate): candidate is TaskEntry => candidate.folder === "tasks");
  if (entry === undefined) throw new Refused(problems);
  const named = { ...entry, id: put.id, name: lastSegment(put.id) };
  const resolved = resolveEntry(named, lookupHere([dirname(disk), put.cwd]), registry);
  if (resolved.what !== "task") throw new Error(`${put.file}: a task was resolved as something else`);
  return { resolved, sources: null, platform: null, metadata: {} };
}

/** What is wrong with a task by itself, by what the store holds, and by the preflight of its deploys (5-run §3). */
export async function checkTaskPut(
  put: PutEntity,
  context: { readonly registry: Registry } & Omit<PreflightRequest, "plan">,
): Promise<Awaited<ReturnType<typeof checkPut>>> {
  const { registry, ...deploying } = context;
  const found = await checkPut(put, context);
  if (found.problems.length > 0) return found;
  const plan = planOf({ checked: found.checked, view: found.view, registry, units: [], rebuild: new Set() }, []);
  return { ...found, problems: await preflight({ ...deploying, plan }) };
}

/** Whether a task with that problem can be saved all the same: what the store or this machine lacks may come later. */
export function canBeSaved({ code }: Problem): boolean {
  return [...PROBLEM_CODES.store, ...PROBLEM_CODES.run].some((known) => known === code);
}
