import { UserError } from "@agent-env/protocol";
import { LIMITS, type Limit, type Limits } from "./limits.ts";
import { type Telemetry, telemetryFrom } from "./observe/telemetry.ts";

/** What an operator may set, on both hosts under the same names. Times are in milliseconds. */
export type Settings = Limits & {
  /** Whether tools and prompts are listed under their servers' own names, or with the server's name before them. */
  readonly toolNames: "plain" | "qualified";
  readonly allowedOrigins: readonly string[];
  /** Whether answers tell callers who may know it how long they took. */
  readonly serverTiming: boolean;
  /** Where spans are sent; null: nowhere. */
  readonly telemetry: Telemetry | null;
};

/** Variables, and on Workers other bindings too. */
type Environment = Readonly<Record<string, unknown>>;

/** The settings of `GATEWAY_…` and `OTEL_…` variables, or their defaults. Throws a `UserError` that names the variable. */
export function settingsFrom(env: Environment): Settings {
  return {
    ...limitsFrom(env),
    toolNames: oneOf(env, "GATEWAY_TOOL_NAMES", ["plain", "qualified"]),
    allowedOrigins: listOf(textIn(env, "GATEWAY_ALLOWED_ORIGINS")),
    serverTiming: oneOf(env, "GATEWAY_SERVER_TIMING", ["off", "on"]) === "on",
    telemetry: telemetryFrom((name) => textIn(env, name)),
  };
}

function limitsFrom(env: Environment): Limits {
  const value = (limit: Limit): number => (limit.unit === "s" ? seconds(env, limit) * 1000 : whole(env, limit));
  return {
    maxUrlBytes: value(LIMITS.maxUrlBytes),
    maxHeaderBytes: value(LIMITS.maxHeaderBytes),
    maxHops: value(LIMITS.maxHops),
    maxMessageBytes: value(LIMITS.maxMessageBytes),
    maxCalls: value(LIMITS.maxCalls),
    maxWaitingCalls: value(LIMITS.maxWaitingCalls),
    maxSessionStreams: value(LIMITS.maxSessionStreams),
    maxStreams: value(LIMITS.maxStreams),
    maxQuestions: value(LIMITS.maxQuestions),
    maxSessions: value(LIMITS.maxSessions),
    sessionIdleMs: value(LIMITS.sessionIdleMs),
    startBudgetMs: value(LIMITS.startBudgetMs),
    upstreamWaitMs: value(LIMITS.upstreamWaitMs),
    toolCallTimeoutMs: value(LIMITS.toolCallTimeoutMs),
    inputWaitMs: value(LIMITS.inputWaitMs),
    proxyIdleMs: value(LIMITS.proxyIdleMs),
    endedKeptMs: value(LIMITS.endedKeptMs),
    maxQueuedSpans: value(LIMITS.maxQueuedSpans),
  };
}

/** A comma list without its blank entries, each trimmed. */
export function listOf(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

function textIn(env: Environment, name: string): string {
  const value = env[name];
  return typeof value === "string" ? value.trim() : "";
}

/** A word of two; the first is the default. */
function oneOf<Word extends string>(env: Environment, variable: string, words: readonly [Word, Word]): Word {
  const text = textIn(env, variable);
  const [fallback, other] = words;
  const word = text === "" ? fallback : words.find((each) => each === text);
  if (word !== undefined) return word;
  throw new UserError({
    what: `${variable}: ${JSON.stringify(text)}`,
    why: `it is neither ${fallback} nor ${other}`,
    next: `leave it out for ${fallback}`,
  });
}

function seconds(env: Environment, { variable, default: fallback }: Limit): number {
  return checked(env, { variable, fallback, isRight: (value) => Number.isFinite(value) && value > 0, why: "it is not a positive number" });
}

function whole(env: Environment, { variable, default: fallback }: Limit): number {
  const isRight = (value: number): boolean => Number.isSafeInteger(value) && value > 0;
  return checked(env, { variable, fallback, isRight, why: "it is not a positive whole number" });
}

type Rule = { readonly variable: string; readonly fallback: number; readonly isRight: (value: number) => boolean; readonly why: string };

function checked(env: Environment, { variable, fallback, isRight, why }: Rule): number {
  const text = textIn(env, variable);
  if (text === "") return fallback;
  const value = Number(text);
  if (isRight(value)) return value;
  throw new UserError({ what: `${variable}: ${JSON.stringify(text)}`, why, next: `leave it out for ${fallback}` });
}
