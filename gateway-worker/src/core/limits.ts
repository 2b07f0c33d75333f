/** A limit that an operator may move. Numbers in `s` are held in milliseconds. */
export type Limit = {
  readonly variable: `GATEWAY_${string}`;
  readonly default: number;
  readonly unit: "bytes" | "s" | "";
  readonly of: string;
  /** What happens beyond it. */
  readonly over: string;
};

/** Every limit that is a setting, on both hosts (6-mcp §13). `docs/gateway-limits.md` shows this table. */
export const LIMITS = {
  maxUrlBytes: limit("GATEWAY_MAX_URL_BYTES", 8_192, "bytes", "a request's path and query", "414"),
  maxHeaderBytes: limit("GATEWAY_MAX_HEADER_BYTES", 65_536, "bytes", "a request's headers", "431"),
  maxHops: limit("GATEWAY_MAX_HOPS", 8, "", "gateways that a request has gone through", "508"),
  maxMessageBytes: limit(
    "GATEWAY_MAX_MESSAGE_BYTES",
    16_777_216,
    "bytes",
    "one JSON-RPC message, after decompression",
    "413; from a server an error that names it",
  ),
  maxCalls: limit("GATEWAY_MAX_CALLS", 64, "", "calls under way at one server", "the next ones wait in line"),
  maxWaitingCalls: limit("GATEWAY_MAX_WAITING_CALLS", 1_000, "", "calls in that line", "an error result `busy` that names the server"),
  maxSessionStreams: limit("GATEWAY_MAX_SESSION_STREAMS", 32, "", "open streams of one MCP session", "429"),
  maxStreams: limit("GATEWAY_MAX_STREAMS", 5_000, "", "open streams of one deployment", "429"),
  maxQuestions: limit(
    "GATEWAY_MAX_QUESTIONS",
    200,
    "",
    "questions of servers that wait for clients, for each era",
    "the server gets an error",
  ),
  maxSessions: limit("GATEWAY_MAX_SESSIONS", 10_000, "", "MCP sessions of one deployment", "the one that was idle longest ends"),
  sessionIdleMs: limit("GATEWAY_SESSION_IDLE_S", 86_400, "s", "an MCP session without a request", "it ends: 404"),
  startBudgetMs: limit("GATEWAY_INTERNAL_SERVER_TIMEOUT_S", 180, "s", "a deployment's start", "503 with what it waits for"),
  upstreamWaitMs: limit("GATEWAY_UPSTREAM_WAIT_S", 30, "s", "the wait for a server known to be down", "an error result `server_down`"),
  toolCallTimeoutMs: limit("GATEWAY_TOOL_CALL_TIMEOUT_S", 600, "s", "a server's silence during a call", "an error result `timeout`"),
  inputWaitMs: limit("GATEWAY_INPUT_WAIT_S", 600, "s", "a client's answer to what a server asks", "the server gets an error"),
  proxyIdleMs: limit("GATEWAY_PROXY_IDLE_S", 3_600, "s", "a server's silence on `/svc` and `/website`", "502, or the body is cut"),
  maxQueuedSpans: limit(
    "GATEWAY_MAX_QUEUED_SPANS",
    2_048,
    "",
    "spans that wait for the collector",
    "new ones are dropped; `/state` counts them",
  ),
  endedKeptMs: limit("GATEWAY_ENDED_KEPT_S", 604_800, "s", "an ended deployment's memory, at the edge", "it is dropped"),
} as const satisfies Readonly<Record<string, Limit>>;

/** The limits in force. */
export type Limits = { readonly [Name in keyof typeof LIMITS]: number };

function limit(variable: Limit["variable"], fallback: number, unit: Limit["unit"], of: string, over: string): Limit {
  return { variable, default: fallback, unit, of, over };
}
