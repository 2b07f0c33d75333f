import type { JsonObject } from "@agent-env/protocol";
import type { Session } from "../deployment/sessions.ts";
import type { Field } from "../seam.ts";
import type { Answer } from "./answer.ts";
import type { ClientEra } from "./channel.ts";

/** One POST of a client: who asks, what it can be asked, and where its answer goes. */
export type Turn = {
  readonly era: ClientEra;
  readonly answer: Answer;
  readonly role: string;
  /** What its session is bound to, or would be. */
  readonly owner: string;
  /** The session that its token names. */
  readonly namedSession: string | undefined;
  /** Missing for a request without a session. */
  readonly session: Session | undefined;
  /** Whose upstream sessions are used. */
  readonly caller: string;
  /** What the client can be asked for in this turn: that is declared to servers, and nothing else. */
  readonly capabilities: JsonObject;
  /** The least level of log lines that it wants; null: those that servers send by themselves. Undefined: none. */
  readonly logLevel: string | null | undefined;
  /** A trigger's call: it waits in no line, and names the role that it says, if any. */
  readonly trigger?: { readonly role: string | null };
  /** Fields of the request that servers get too: of tracing, and arguments that are headers. */
  readonly fields: readonly Field[];
};

/** The reply to a request, and the form in which its server sent it. Null: it was cancelled, and gets none. */
export type Reply = { readonly message: JsonObject; readonly isStream: boolean } | null;

/** A reply that the gateway made. */
export function own(message: JsonObject): Reply {
  return { message, isStream: false };
}
