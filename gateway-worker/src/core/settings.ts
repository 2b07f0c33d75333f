import { UserError } from "@agent-env/protocol";

/** What an operator may set, on both hosts under the same names. Times are in milliseconds. */
export type Settings = {
  readonly maxMessageBytes: number;
  readonly startBudgetMs: number;
  readonly upstreamWaitMs: number;
  readonly sessionIdleMs: number;
  readonly toolCallTimeoutMs: number;
  /** How long a client may take to answer what a server asks. */
  readonly inputWaitMs: number;
  /** Whether tools and prompts are listed under their servers' own names, or with the server's name before them. */
  readonly toolNames: "plain" | "qualified";
  readonly allowedOrigins: readonly string[];
};

/** Variables, and on Workers other bindings too. */
type Environment = Readonly<Record<string, unknown>>;

/** The settings of `GATEWAY_…` variables, or their defaults. Throws a `UserError` that names the variable. */
export function settingsFrom(env: Environment): Settings {
  return {
    maxMessageBytes: positive(env, "GATEWAY_MAX_MESSAGE_BYTES", 16_777_216),
    startBudgetMs: positive(env, "GATEWAY_INTERNAL_SERVER_TIMEOUT_S", 180) * 1000,
    upstreamWaitMs: positive(env, "GATEWAY_UPSTREAM_WAIT_S", 30) * 1000,
    sessionIdleMs: positive(env, "GATEWAY_SESSION_IDLE_S", 86_400) * 1000,
    toolCallTimeoutMs: positive(env, "GATEWAY_TOOL_CALL_TIMEOUT_S", 600) * 1000,
    inputWaitMs: positive(env, "GATEWAY_INPUT_WAIT_S", 600) * 1000,
    toolNames: toolNames(env),
    allowedOrigins: listOf(textIn(env, "GATEWAY_ALLOWED_ORIGINS")),
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

function toolNames(env: Environment): "plain" | "qualified" {
  const text = textIn(env, "GATEWAY_TOOL_NAMES");
  if (text === "" || text === "plain") return "plain";
  if (text === "qualified") return text;
  throw new UserError({
    what: `GATEWAY_TOOL_NAMES: ${JSON.stringify(text)}`,
    why: "it is neither plain nor qualified",
    next: "leave it out for plain",
  });
}

function positive(env: Environment, name: string, fallback: number): number {
  const text = textIn(env, name);
  if (text === "") return fallback;
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new UserError({
    what: `${name}: ${JSON.stringify(text)}`,
    why: "it is not a positive number",
    next: `leave it out for ${fallback}`,
  });
}
