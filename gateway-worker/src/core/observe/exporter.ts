import { isJsonObject, jsonOf } from "@agent-env/protocol";
import { inBackground } from "../background.ts";
import { BodyTooLarge, textOf } from "../body.ts";
import { Fault, type Host, type UpExchange, type UpRequest } from "../seam.ts";
import { pause } from "../timing.ts";
import { otlpRequest } from "./otlp.ts";
import type { Span } from "./span.ts";
import type { Telemetry } from "./telemetry.ts";

/** Spans in one request to the collector. */
const BATCH = 512;
/** How long a span waits for others. */
const MOMENT_MS = 1_000;
/** The longest pause after a try that failed. Work in the background of a Worker's request may last 30 s. */
const LONGEST_PAUSE_MS = 8_000;
/** With no new spans, a collector that is away is left alone after so many tries. */
const MOST_TRIES = 5;
const ANSWER_MS = 10_000;
const MAX_ANSWER_BYTES = 65_536;
/** What a collector asks to be sent again after (OTLP/HTTP, retryable response codes). */
const RETRYABLE = [429, 502, 503, 504];

type ExporterParts = {
  readonly telemetry: Telemetry;
  readonly maxQueued: number;
  readonly upstream: (request: UpRequest) => UpExchange;
  readonly log: (line: string) => void;
};

/** What has become of spans, for whoever runs the gateway. */
export type Exported = {
  readonly queued: number;
  readonly sent: number;
  /** Those that no room was left for, and those that the collector would not have. */
  readonly dropped: number;
  /** Why the last try failed; null after one that didn't. */
  readonly trouble: string | null;
};

/** Sends spans to a collector, several at a time, in the background. Nobody waits for it, and no failure of it is anybody else's. */
export class SpanExporter {
  readonly #parts: ExporterParts;
  #queue: Span[] = [];
  /** Until when whoever has promised to send may take; then somebody else does it. Work in a request's background may be lost. */
  #promisedUntilMs = 0;
  readonly #underWay = new Set<Promise<boolean>>();
  #tries = 0;
  #sent = 0;
  #dropped = 0;
  #trouble: string | null = null;

  constructor(parts: ExporterParts) {
    this.#parts = parts;
  }

  get exported(): Exported {
    return { queued: this.#queue.length, sent: this.#sent, dropped: this.#dropped, trouble: this.#trouble };
  }

  /** Takes a span, to be sent in the background of `host`. Where the queue is full it is dropped, and counted. */
  add(span: Span, host: Pick<Host, "background" | "log">): void {
    if (this.#queue.length >= this.#parts.maxQueued) {
      this.#dropped++;
      return;
    }
    this.#queue.push(span);
    this.#promise(host);
  }

  /** Sends what waits. Done when all has been sent, or a try has failed, whoever has begun it: for a host that ends. */
  async drain(): Promise<void> {
    await Promise.all([this.#flush(), ...this.#underWay]);
  }

  async #flush(): Promise<void> {
    while (this.#queue.length > 0) if (!(await this.#next())) return;
  }

  #promise(host: Pick<Host, "background" | "log">): void {
    const now = Date.now();
    if (now < this.#promisedUntilMs) return;
    const pauseMs = Math.min(MOMENT_MS * 2 ** this.#tries, LONGEST_PAUSE_MS);
    this.#promisedUntilMs = now + pauseMs + 2 * ANSWER_MS;
    inBackground(host, this.#sendAfter(pauseMs, host));
  }

  async #sendAfter(pauseMs: number, host: Pick<Host, "background" | "log">): Promise<void> {
    await pause(pauseMs);
    await this.#flush();
    this.#promisedUntilMs = 0;
    if (this.#queue.length > 0 && this.#tries < MOST_TRIES) this.#promise(host);
  }

  /** False: it has to be tried again. */
  async #next(): Promise<boolean> {
    const sending = this.#send(this.#queue.splice(0, BATCH));
    this.#underWay.add(sending);
    try {
      return await sending;
    } finally {
      this.#underWay.delete(sending);
    }
  }

  async #send(batch: readonly Span[]): Promise<boolean> {
    const { trouble, rejected } = await this.#posted(batch);
    if (trouble !== null && trouble !== this.#trouble) this.#parts.log(`spans can't be sent to the collector: ${trouble}`);
    this.#trouble = trouble;
    this.#tries = trouble === null ? 0 : this.#tries + 1;
    if (rejected === "again") {
      this.#putBack(batch);
      return false;
    }
    this.#sent += batch.length - rejected;
    this.#dropped += rejected;
    return true;
  }

  #putBack(batch: readonly Span[]): void {
    const all = [...batch, ...this.#queue];
    this.#dropped += Math.max(0, all.length - this.#parts.maxQueued);
    this.#queue = all.slice(0, this.#parts.maxQueued);
  }

  async #posted(batch: readonly Span[]): Promise<{ readonly trouble: string | null; readonly rejected: number | "again" }> {
    const { url, headers, service } = this.#parts.telemetry;
    const exchange = this.#parts.upstream({
      method: "POST",
      url,
      headers: [["content-type", "application/json"], ["accept-encoding", "identity"], ...headers],
      body: otlpRequest(batch, service),
      idleMs: ANSWER_MS,
    });
    const late = setTimeout(exchange.abort, ANSWER_MS);
    try {
      const response = await exchange.response;
      const { status } = response;
      const text = await textOf(response, MAX_ANSWER_BYTES);
      if (RETRYABLE.includes(status)) return { trouble: `HTTP ${status}`, rejected: "again" };
      if (status < 200 || status > 299) return { trouble: `HTTP ${status}`, rejected: batch.length };
      const rejected = Math.min(rejectedIn(text), batch.length);
      return { trouble: rejected === 0 ? null : `it rejected ${rejected} of ${batch.length}`, rejected };
    } catch (error) {
      exchange.abort();
      if (error instanceof Fault) return { trouble: error.reason, rejected: "again" };
      if (error instanceof BodyTooLarge) return { trouble: `its answer is larger than ${MAX_ANSWER_BYTES} bytes`, rejected: batch.length };
      throw error;
    } finally {
      clearTimeout(late);
    }
  }
}

/** How many of a batch a collector didn't take (OTLP, partial success). */
function rejectedIn(text: string): number {
  const answer = jsonOf(text);
  const partial = isJsonObject(answer) ? answer["partialSuccess"] : undefined;
  const rejected = isJsonObject(partial) ? Number(partial["rejectedSpans"] ?? 0) : 0;
  return Number.isInteger(rejected) && rejected > 0 ? rejected : 0;
}
