import { isJsonObject } from "@agent-env/protocol";
import type { Caller } from "../auth/caller.ts";
import { clientFaultError } from "../client-fault.ts";
import { headedBy } from "../headed.ts";
import { pathOf, type Route } from "../route.ts";
import { ClientFault, type Field, type In, type Out } from "../seam.ts";
import type { View } from "../view.ts";
import { Call } from "./call.ts";
import { knownMethod } from "./http-call.ts";
import { knownMcpMethod } from "./mcp-methods.ts";
import { seesTiming, serverTimingField } from "./server-timing.ts";
import type { Attributes, Span } from "./span.ts";
import { below, contextIn, type TraceContext } from "./trace-context.ts";

type Cares = { readonly tellsTimes: boolean; readonly collect: ((span: Span) => void) | null };

/**
 * A request while it is answered: how long it takes, how much of that in servers, and its place in a trace. On Workers clocks
 * stand still but for I/O: there the gateway's own share is what it waited for its object, its storage and its clients.
 */
export class Watched {
  readonly #request: In;
  readonly #cares: Cares;
  readonly #startMs = Date.now();
  readonly #started = performance.now();
  readonly #parent: TraceContext | null;
  /** Its own place, below that of the caller's; null where nobody collects spans. */
  readonly context: TraceContext | null;
  #to: Route | null = null;
  #deployment: string | null = null;
  #method: string | null = null;
  #seesTiming = false;
  #status = 0;
  #error: string | null = null;
  #openCalls = 0;
  #waitingSince = 0;
  #waitedMs = 0;
  #isOver = false;

  constructor(request: In, cares: Cares) {
    this.#request = request;
    this.#cares = cares;
    this.#parent = cares.collect === null ? null : contextIn(request.headers());
    this.context = cares.collect === null ? null : below(this.#parent);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Milliseconds since 1970, with the fractions that the host has. */
  nowMs(): number {
    return this.#startMs + performance.now() - this.#started;
  }

  /** Where it goes. */
  routed(to: Route, { auth }: View): void {
    this.#to = to;
    this.#deployment = auth.deployment;
  }

  /** Whom it was let in as. */
  admitted(caller: Caller): void {
    this.#seesTiming = this.#cares.tellsTimes && seesTiming(caller, this.#request);
  }

  /** What it asks of MCP, by its body. */
  asks(body: unknown): void {
    this.#method = isJsonObject(body) ? knownMcpMethod(body["method"]) : null;
  }

  /** Its answer, whose head tells what it took so far. */
  over(answer: Out): Out {
    return headedBy(answer, (status, fields) => [...fields, ...this.answered(status)]);
  }

  /** Its answer's head is being written. Gives the fields that tell what it took so far. */
  answered(status: number): Field[] {
    this.#status = status;
    if (!this.#seesTiming) return [];
    const now = performance.now();
    const waiting = this.#openCalls > 0 ? now - this.#waitingSince : 0;
    return [serverTimingField({ totalMs: now - this.#started, upstreamMs: this.#waitedMs + waiting })];
  }

  /** A request to a server begins, on its behalf. */
  call(name: string, attributes: Attributes): Call {
    if (this.#openCalls++ === 0) this.#waitingSince = performance.now();
    return new Call(this, { name, attributes });
  }

  /** Such a request has ended. `span` tells of it, where spans are collected. */
  callEnded(span: Span | null): void {
    if (--this.#openCalls === 0) this.#waitedMs += performance.now() - this.#waitingSince;
    if (span !== null) this.#cares.collect?.(span);
  }

  /** It was thrown away by an error: a client's whose body did not come whole, or a bug. */
  broke(error: unknown): void {
    this.#status = error instanceof ClientFault ? clientFaultError(error).status : 500;
    this.#error = error instanceof Error ? error.name : typeof error;
  }

  /** It is answered, and nothing more is done for it. */
  end(): void {
    this.#isOver = true;
    const { context } = this;
    if (context === null || isProbe(this.#to, this.#request)) return;
    const { traceId, spanId } = context;
    const method = knownMethod(this.#request.method);
    const route = routeOf(this.#to, this.#request);
    // what a WebSocket is answered with is the host's to say
    const status = this.#status === 0 && this.#request.wantsUpgrade ? 101 : this.#status;
    // its client left before there was an answer
    const error = this.#error ?? (status === 0 ? "abandoned" : status >= 500 ? String(status) : null);
    const attributes = {
      "http.request.method": method,
      "url.scheme": this.#request.scheme,
      ...(route === null ? {} : { "http.route": route }),
      ...(status === 0 ? {} : { "http.response.status_code": status }),
      ...(error === null ? {} : { "error.type": error }),
      ...(this.#deployment === null ? {} : { "agentenv.deployment": this.#deployment }),
      ...(this.#method === null ? {} : { "mcp.method.name": this.#method }),
      ...serverOf(this.#to),
    };
    const name = route === null ? method : `${method} ${route}`;
    const times = { startMs: this.#startMs, endMs: this.nowMs() };
    const parentId = this.#parent?.spanId ?? null;
    this.#cares.collect?.({ traceId, spanId, parentId, name, kind: "server", ...times, attributes, isError: error !== null });
  }
}

/** `/health` and `/ready` are asked all the time, and tell nothing. */
function isProbe(to: Route | null, request: In): boolean {
  return to?.to === "app" && to.need.scope === "none" && ["/health", "/ready"].includes(pathOf(request.path ?? ""));
}

/** The route, without what a caller chose: below a server's own paths there may be anything. */
function routeOf(to: Route | null, request: In): string | null {
  switch (to?.to) {
    case "mcp":
      return "/mcp";
    case "app":
      return pathOf(request.path ?? "").replace(/\/+$/, "");
    case "service":
      return "/svc/{key}";
    case "site":
      return "/website/{site}";
    default:
      return null;
  }
}

function serverOf(to: Route | null): Attributes {
  if (to?.to === "service") return { "agentenv.server": to.key };
  return to?.to === "site" ? { "agentenv.server": to.site } : {};
}
