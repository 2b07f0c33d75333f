import { z } from "zod";
import { Ref } from "./refs.ts";
import type { EvalType, RefValue } from "./type.ts";

const Fields = z.object({ tasks: z.array(Ref) });
const Record = z.looseObject({ tasks: z.array(z.object({ task_id: z.string(), task_version: z.int().nullable() })) });

/** A list of tasks. Its references stay bare, so that it runs each task's latest version (B9). */
export const evalType: EvalType = {
  kind: "eval",
  type: "eval",
  tomlKeys: { tasks: "list" },
  tomlRefs: [{ path: "tasks[]", kind: "task" }],
  accept: (_config, context) => context.accepted(),
  writes: "record",
  write: async (fields) => ({ tasks: Fields.parse(fields).tasks.map(taskEntry) }),
  read: (record) => ({
    tasks: Record.parse(record).tasks.map(({ task_id, task_version }) =>
      task_version === null ? task_id : { task: task_id, version: task_version },
    ),
  }),
};

function taskEntry(ref: RefValue): { readonly task_id: string; readonly task_version: number | null } {
  if (typeof ref === "string") return { task_id: ref, task_version: null };
  const { task, version } = z.object({ task: z.string(), version: z.int() }).parse(ref);
  return { task_id: task, task_version: version };
}
