import { isJsonObject, type JsonObject, LOG_LEVELS } from "@agent-env/protocol";
import type { Turn } from "./turn.ts";

/** Whether somebody who asked for lines of `least` wants this one. Null: all that servers send. Undefined: none. */
export function isWanted(line: JsonObject, least: Turn["logLevel"]): boolean {
  if (least === undefined || least === null) return least === null;
  const level = isJsonObject(line["params"]) ? line["params"]["level"] : undefined;
  return rankOf(level) >= rankOf(least);
}

/** Whether a value is a log level. */
export function isLogLevel(value: unknown): value is string {
  return LOG_LEVELS.some((level) => level === value);
}

function rankOf(level: unknown): number {
  return LOG_LEVELS.map(String).indexOf(String(level));
}
