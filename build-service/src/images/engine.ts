import { createRequire } from "node:module";
import { UserError } from "@agent-env/protocol";
import type Docker from "dockerode";

const require = createRequire(import.meta.url);

/** An Engine that doesn't answer within this is taken for absent (5-run §2.2). */
const ANSWER_BUDGET_MS = 2_000;

const NEXT = "start Docker, or set DOCKER_HOST; `agent-env doctor` says what is found; `--sandbox process` needs no Docker";

/** Where the Engine is looked for, as a person would write it. */
function engineAddress(): string {
  return process.env["DOCKER_HOST"] || "the Docker socket";
}

/**
 * The Engine that `DOCKER_HOST` names, else the one on this machine's socket. Opens nothing yet. Throws a UserError (exit
 * code 2) when `DOCKER_HOST` can't be read.
 */
export function connectEngine(options: { readonly timeout?: number } = {}): Docker {
  // Loading it takes a fifth of a second, and a command that needs no Engine doesn't wait for that.
  const Engine = require("dockerode") as typeof Docker;
  try {
    return new Engine(options);
  } catch (error) {
    throw new UserError(
      {
        what: `DOCKER_HOST: ${JSON.stringify(process.env["DOCKER_HOST"] ?? "")} names no Docker Engine`,
        why: messageOf(error),
        next: "set it to unix:///path/to/docker.sock or tcp://host:port, or unset it",
        exitCode: 2,
      },
      { cause: error },
    );
  }
}

/** Null when the Engine answers within 2 s, else why it doesn't and what mends it. */
export async function engineProblem(): Promise<{ readonly why: string; readonly next: string } | null> {
  try {
    await connectEngine({ timeout: ANSWER_BUDGET_MS }).ping();
    return null;
  } catch (error) {
    if (error instanceof UserError) return { why: `${error.message}: ${error.why}`, next: error.next };
    return { why: whyUnreachable(error), next: NEXT };
  }
}

/**
 * One call of the Engine. `doing` says in a person's words what it is for: `start the container items`. An Engine that
 * has gone, or that reports a fault of its own (5xx: disk full, no memory), becomes a UserError; any other answer is thrown as it is.
 */
export async function ask<T>(doing: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw translated(doing, error);
  }
}

/** The status that the Engine answered with; null for an error of another kind. */
export function engineStatus(error: unknown): number | null {
  if (!(error instanceof Error) || !("statusCode" in error)) return null;
  return typeof error.statusCode === "number" ? error.statusCode : null;
}

/** The Engine's own sentence, without dockerode's words around it: `(HTTP code 400) unexpected - …`. */
export function engineMessage(error: unknown): string {
  const message = messageOf(error);
  return engineStatus(error) === null ? message : message.replace(/^\(HTTP code \d+\) [a-z ]+ - /, "").trim();
}

/** What `call` gives, or `fallback` when the Engine doesn't know the thing (any more). */
export async function orWhenGone<T, F>(fallback: F, call: Promise<T>): Promise<T | F> {
  try {
    return await call;
  } catch (error) {
    if (engineStatus(error) === 404) return fallback;
    throw error;
  }
}

function translated(doing: string, error: unknown): unknown {
  const status = engineStatus(error);
  if (status !== null && status >= 500) {
    return new UserError(
      { what: `the Docker Engine could not ${doing}`, why: engineMessage(error), next: "mend that, then run the command again" },
      { cause: error },
    );
  }
  if (connectionCode(error) === null) return error;
  return new UserError(
    { what: `the Docker Engine went away, asked to ${doing}`, why: whyUnreachable(error), next: `${NEXT}; then \`agent-env gc\`` },
    { cause: error },
  );
}

/** The system's code for a connection that failed or broke; null for an error of another kind. */
function connectionCode(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return null;
  return ["ECONNREFUSED", "ECONNRESET", "ENOENT", "EACCES", "ENOTFOUND", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH"].includes(error.code)
    ? error.code
    : null;
}

function whyUnreachable(error: unknown): string {
  const at = engineAddress();
  switch (connectionCode(error)) {
    case "ENOENT":
    case "ECONNREFUSED":
      return `nothing listens at ${at}`;
    case "EACCES":
      return `${at} may not be opened by this user`;
    case "ECONNRESET":
      return `${at} took the connection and gave no answer`;
    case null:
      return engineMessage(error) === ""
        ? `${at} gave no answer within ${ANSWER_BUDGET_MS / 1000} s`
        : `${at} answered: ${engineMessage(error)}`;
    default:
      return `${at}: ${messageOf(error)}`;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
