import type { Problem, ProblemCode } from "@agent-env/protocol";
import { shownValue } from "./shown.ts";

/** Adds a problem of a reference, and leaves the value as it was written. */
export function refuse(problems: Problem[], code: ProblemCode, path: string, message: string, value: unknown): unknown {
  problems.push({ code, path, message });
  return value;
}

/** Why a reference to what this bundle writes can't have a version. */
export function pinnedMessage(text: string): string {
  return `${shownValue(text)} is this bundle's own, which is written by this run and has no fixed version: leave out the version`;
}

/** Why a reference to what an earlier step of the task writes can't have one either. */
export function pinnedOutput(text: string): string {
  return `${shownValue(text)} is written by an earlier step of this task and has no fixed version: leave out the version`;
}
