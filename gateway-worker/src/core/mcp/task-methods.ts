import { isJsonObject, type JsonObject } from "@agent-env/protocol";
import { TASKS_EXTENSION } from "./capabilities.ts";
import type { ClientEra } from "./channel.ts";

/**
 * What is declared of tasks to clients of an era: all that servers of that era have. Of the 2025-11-25 kind and of the
 * extension of 2026-07-28 neither is made into the other.
 */
export function declaredTasks(era: ClientEra, declared: readonly JsonObject[]): JsonObject {
  if (era === "modern") return declared.some(hasExtension) ? { extensions: { [TASKS_EXTENSION]: {} } } : {};
  const tasks = declared.map((capabilities) => capabilities["tasks"]).filter(isJsonObject);
  if (tasks.length === 0) return {};
  const has = (name: string): boolean => tasks.some((each) => each[name] !== undefined);
  return {
    tasks: {
      ...(has("list") ? { list: {} } : {}),
      ...(has("cancel") ? { cancel: {} } : {}),
      ...(tasks.some(takesToolCalls) ? { requests: { tools: { call: {} } } } : {}),
    },
  };
}

/** The methods of tasks that are served to whom this is declared. */
export function taskMethods(era: ClientEra, declared: JsonObject): readonly string[] {
  if (era === "modern") return hasExtension(declared) ? ["tasks/get", "tasks/update", "tasks/cancel"] : [];
  const { tasks } = declared;
  if (!isJsonObject(tasks)) return [];
  const optional = ["list", "cancel"].filter((name) => tasks[name] !== undefined);
  return ["tasks/get", "tasks/result", ...optional.map((name) => `tasks/${name}`)];
}

/** Whether capabilities, of a client or a server, have the modern extension. */
export function hasExtension({ extensions }: JsonObject): boolean {
  return isJsonObject(extensions) && isJsonObject(extensions[TASKS_EXTENSION]);
}

function takesToolCalls({ requests }: JsonObject): boolean {
  return isJsonObject(requests) && isJsonObject(requests["tools"]) && requests["tools"]["call"] !== undefined;
}
