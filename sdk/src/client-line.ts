import type { JsonObject, LOG_LEVELS } from "@agent-env/protocol";

/** The level of a log line. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** How long a client's person may take to answer. */
export const ANSWER_BUDGET_MS = 600_000;

/** What a client is asked. With a key a modern client sees it under that name, else under one that is made. */
export type Question = { readonly method: string; readonly params: JsonObject; readonly key?: string };

/** How a running call reaches the client that made it. Each protocol era has its own way. */
export type ClientLine = {
  /** Aborted when the client cancels the call. */
  readonly signal: AbortSignal;
  /** What the client declared that it can do. */
  readonly capabilities: JsonObject;
  /** What the client wants progress to be sent under; without it none is sent. */
  progressToken(): string | number | undefined;
  /** The least level of the log lines that the client wants to see; undefined for none. */
  logLevel(): LogLevel | undefined;
  /** Sends a notification along with the call's answer. */
  notify(method: string, params: JsonObject): Promise<void>;
  /** Asks the client, and waits for the answer. Rejects when none came, or the client answered with an error. */
  ask(question: Question): Promise<unknown>;
};

/** The line of what runs outside a call: nobody listens, nobody can be asked. */
export const NO_LINE: ClientLine = {
  signal: new AbortController().signal,
  capabilities: {},
  progressToken: () => undefined,
  logLevel: () => undefined,
  notify: () => Promise.resolve(),
  ask: ({ method }) => Promise.reject(new Error(`${method}: there is no client to ask outside a call`)),
};

/**
 * A handler asked a client for what it hasn't declared that it can do. A modern client is told which capability it is; to a
 * legacy one it is a failed call.
 */
export class MissingCapability extends Error {
  readonly required: JsonObject;

  constructor(required: JsonObject) {
    super(`the client can't be asked: it hasn't declared ${JSON.stringify(required)}`);
    this.name = "MissingCapability";
    this.required = required;
  }
}
