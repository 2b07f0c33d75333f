import { AsyncLocalStorage } from "node:async_hooks";
import { namedRole, ROLE_HEADER, ROLE_META_KEY, SESSION_HEADER, SESSION_META_KEY } from "@agent-env/protocol";
import { type CallClient, callClient } from "./call-client.ts";
import { NO_LINE } from "./client-line.ts";

/** Who calls, as the gateway says it; null where it says nothing. */
export type Caller = { readonly role: string | null; readonly session: string | null };

/** What a handler may know about the call it answers. */
export type ToolContext = {
  readonly caller: Caller;
  readonly tool: string | null;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** 32 hex digits, new for each call. */
  readonly callId: string | null;
  /** Aborted when the client cancels the call. */
  readonly signal: AbortSignal;
  /** The program that made the call: progress and log lines go to it, and it can be asked. */
  readonly client: CallClient;
};

/** What holds while a request is answered, for everything that runs for it. A call that is asked back outlives its request. */
type Scope = { readonly request: { headers: Headers }; readonly context: ToolContext };

const NOBODY: ToolContext = {
  caller: { role: null, session: null },
  tool: null,
  arguments: Object.freeze({}),
  callId: null,
  signal: NO_LINE.signal,
  client: callClient(NO_LINE),
};
const NOTHING: Scope = { request: { headers: new Headers() }, context: NOBODY };
const scopes = new AsyncLocalStorage<Scope>();

/** The context of the call that is being answered; an empty one outside a call. */
export function toolContext(): ToolContext {
  return currentScope().context;
}

/** The request headers of the current scope; none outside a request. */
export function currentHeaders(): Headers {
  return currentScope().request.headers;
}

/** Runs `answer` for a request with these headers, with the caller that they name. */
export function withRequest<T>(headers: Headers, answer: () => T): T {
  return scopes.run({ request: { headers }, context: { ...NOBODY, caller: callerOf(headers, undefined) } }, answer);
}

/** Runs `answer` for one call within the current request. */
export function withContext<T>(context: ToolContext, answer: () => T): T {
  return scopes.run({ ...currentScope(), context }, answer);
}

/** For a call that goes on in later requests: a function that moves the current scope to the request it is called in. */
export function followRequests(): () => void {
  const { request } = currentScope();
  return () => {
    request.headers = currentHeaders();
  };
}

/**
 * The caller of an MCP request, by the table of 3-wire §mcp: a role key in `_meta` speaks whatever its value, and then no
 * header is looked at. Leave `meta` undefined for a plain HTTP request.
 */
export function callerOf(headers: Headers, meta: Readonly<Record<string, unknown>> | undefined): Caller {
  const named = meta?.[SESSION_META_KEY];
  const session = typeof named === "string" && named !== "" ? named : null;
  if (meta !== undefined && Object.hasOwn(meta, ROLE_META_KEY)) return { role: namedRole(meta[ROLE_META_KEY]), session };
  return { role: namedRole(headers.get(ROLE_HEADER)), session: session ?? headers.get(SESSION_HEADER) };
}

const currentScope = (): Scope => scopes.getStore() ?? NOTHING;
