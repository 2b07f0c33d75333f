import { problemLine } from "@agent-env/protocol";
import type { StageEvent } from "./events.ts";

/** The line that shows an event to a person, or null for one that only moves the progress line. */
export function lineOf(event: StageEvent): string | null {
  switch (event.kind) {
    case "problem":
      return problemLine(event.problem);
    case "plan":
    case "write":
    case "wait":
    case "infra":
      return `${event.entry}: ${event.message}`;
    case "teardown":
      return event.phase === "part" ? null : `${event.entry}: ${event.message}`;
    case "image":
      return ["log", "step", "reused"].includes(event.phase) ? null : `${event.entry}: ${event.message}`;
    case "deploy":
      return event.phase === "probe" ? null : `${event.entry}: ${event.message}`;
    case "step":
      if (event.phase === "start") return null;
      return `${event.entry}: ${event.step}: ${event.phase === "failed" ? "failed: " : ""}${event.message}`;
    case "score":
      return null; // its step's own line says it
    case "log":
      return event.level === "detail"
        ? null
        : `${event.level === "warning" ? "warning: " : ""}${event.entry === undefined ? "" : `${event.entry}: `}${event.message}`;
  }
}

/** What is going on right now, for a terminal's last line; null where the event says nothing about that. */
export function progressOf(event: StageEvent): string | null {
  switch (event.kind) {
    case "image": {
      const step = event.step === undefined ? "" : `step ${event.step} of ${event.steps ?? "?"}: `;
      return `${event.entry}: ${step}${event.message}`;
    }
    case "deploy":
    case "wait":
    case "infra":
      return `${event.entry}: ${event.message}`;
    case "step":
      return `${event.entry}: ${event.step}: ${event.message}`;
    case "log":
      return event.level === "detail" ? event.message : null;
    default:
      return null;
  }
}
