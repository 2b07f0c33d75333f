import { dirname, resolve } from "node:path";
import { type AnyRecord, lastSegment, Refused } from "@agent-env/protocol";
import { z } from "zod";
import type { EvalEntry } from "../bundle/bundle.ts";
import { readJsonFile } from "../bundle/config-file.ts";
import type { Lookup } from "../bundle/lookup.ts";
import { resolveEntity } from "../bundle/resolve.ts";
import type { TomlTable } from "../bundle/toml.ts";
import { evalType } from "../types/eval.ts";
import { idInBundle } from "./bundle-here.ts";
import type { PutEntity } from "./put-entity.ts";

/** One entry of an eval's file. */
const EvalTask = z.strictObject({ task_id: z.string().min(1), task_version: z.int().positive().nullish() });
export type EvalTask = z.infer<typeof EvalTask>;

/** The tasks that a file lists, names in a bundle there or here as ids. Throws `Refused` for another file. */
export function evalTasks(file: string, cwd: string): readonly EvalTask[] {
  const disk = resolve(cwd, file);
  const folders = [dirname(disk), cwd];
  const read = readJsonFile(disk);
  const refuse = (message: string): Refused => new Refused([{ code: "eval-shape", path: file, message }]);
  if ("problem" in read) throw new Refused([{ code: "bad-config", path: file, message: read.problem }]);
  const parsed = z.array(EvalTask).safeParse(read.value);
  if (parsed.success && parsed.data.length === 0) throw refuse("lists no task, and an eval has at least one");
  if (parsed.success) return parsed.data.map((task) => ({ ...task, task_id: idOf(task.task_id, folders) }));
  const [issue] = parsed.error.issues;
  const place = issue === undefined || issue.path.length === 0 ? "" : `, in ${issue.path.join(".")}: ${issue.message}`;
  throw refuse(
    `an eval's file is a JSON array of objects with task_id and, for a fixed version, task_version; found something else${place}`,
  );
}

function idOf(text: string, folders: readonly string[]): string {
  return folders.map((folder) => idInBundle("task", text, folder)).find((id) => id !== null) ?? text;
}

/** An eval over those tasks, to be put under `id`. Problems start with `file`. */
export function evalPut(put: {
  readonly tasks: readonly EvalTask[];
  readonly id: string;
  readonly file: string;
  readonly cwd: string;
}): PutEntity {
  const { tasks, id, file, cwd } = put;
  const config: TomlTable = {
    tasks: tasks.map(({ task_id, task_version }) =>
      task_version === null || task_version === undefined ? task_id : { task: task_id, version: BigInt(task_version) },
    ),
  };
  const disk = resolve(cwd, file);
  const entry: EvalEntry = {
    folder: "evals",
    kind: "eval",
    name: lastSegment(id),
    id,
    type: "eval",
    path: file,
    disk,
    configText: null,
    config,
  };
  const lookup: Lookup = (text, kind) => ({ target: { in: "store", kind, id: text } });
  const resolved = resolveEntity({ what: "typed", entry, type: evalType, config, builds: [], problems: [] }, lookup);
  return { resolved, sources: null, platform: null, metadata: {} };
}

/** The tasks of a stored eval. */
export function storedTasks(record: AnyRecord): readonly EvalTask[] {
  return z.object({ tasks: z.array(EvalTask) }).parse(record).tasks;
}

/** `before` with `added`: one entry a task, the later one in the earlier one's place. */
export function withTasks(before: readonly EvalTask[], added: readonly EvalTask[]): EvalTask[] {
  const byId = new Map([...before, ...added].map((task) => [task.task_id, task]));
  return [...byId.values()];
}
