import type { JsonObject } from "@agent-env/protocol";
import type { Host } from "../seam.ts";
import type { Cause } from "../triggers/actions.ts";
import { eventId, type Trajectory } from "./trajectory.ts";
import type { WriteWindows } from "./write-windows.ts";

/** A tool call as the trajectory tells of it. */
export type CallFacts = {
  readonly tool: string;
  readonly args: JsonObject;
  readonly role: string;
  /** By `/step`. */
  readonly source?: "step_api";
  /** A tool of the gateway's own: it writes nothing. */
  readonly isOwn: boolean;
};
/** A call under way. */
export type BegunCall = { readonly facts: CallFacts; readonly n: number; readonly before: number | null; readonly cause: CausedBy };
/** What a role's calls are caused by, while it is an executor at work. */
export type CausesOf = (role: string) => readonly Cause[];
type CausedBy = { readonly caused_by?: readonly Cause[] };
export type CallEnd = { readonly result: unknown } | { readonly error: string };

/** One `tool_call` per call, however often it is sent, and what it came to. */
export class CallLog {
  readonly #host: Host;
  readonly #trajectory: Trajectory;
  readonly #windows: WriteWindows;
  readonly #causesOf: CausesOf;

  constructor(parts: { host: Host; trajectory: Trajectory; windows: WriteWindows; causesOf: CausesOf }) {
    this.#causesOf = parts.causesOf;
    this.#host = parts.host;
    this.#trajectory = parts.trajectory;
    this.#windows = parts.windows;
  }

  /** A call begins. */
  async begin(facts: CallFacts): Promise<BegunCall> {
    const before = this.#host.changes === undefined || facts.isOwn ? null : await this.#host.changes.lastId();
    const { tool, args, role, source } = facts;
    const call = { function_name: tool, arguments: args };
    const cause = causeIn(this.#causesOf(role));
    const n = this.#trajectory.appendWithNext({ event_type: "tool_call", ...sourceOf(source), tool_call: call, role, ...cause });
    return { facts, n, before, cause };
  }

  /** It has ended. Gives the changelog's highest id; written down once `committed` is done. */
  async end({ facts, n, before, cause }: BegunCall, end: CallEnd): Promise<number | null> {
    const after = this.#host.changes === undefined ? null : await this.#host.changes.lastId();
    const ids = facts.isOwn ? { changelog_id: after } : { changelog_id_before: before, changelog_id: after };
    const what =
      "result" in end
        ? { event_type: "tool_call_result", ...sourceOf(facts.source), tool_call_event_id: eventId(n), tool_call_result: end.result }
        : { event_type: "tool_call_failed", ...sourceOf(facts.source), tool_call_event_id: eventId(n), error: end.error };
    const finished = this.#trajectory.append({ ...what, ...ids });
    const failed = "error" in end ? { failed: true } : {};
    this.#windows.add(
      finished,
      { before, after },
      { kind: "tool_call", event_id: eventId(n), tool: facts.tool, role: facts.role, ...failed, ...cause },
    );
    return after;
  }

  /** Done when all that was said of calls before survives a kill. */
  committed(): Promise<void> {
    return this.#trajectory.committed();
  }
}

/** The cause of what somebody does, where it has one. */
export function causeIn(causes: readonly Cause[]): CausedBy {
  return causes.length === 0 ? {} : { caused_by: causes };
}

function sourceOf(source: CallFacts["source"]): { source?: string } {
  return source === undefined ? {} : { source };
}
