import { messageEvent } from "@agent-env/protocol";
import type { Sink } from "../seam.ts";

const KEPT_MS = 300_000;
/** A stream that went out whole may still have been cut on the way. */
const KEPT_WHEN_WHOLE_MS = 10_000;
const SWEEP_MS = 10_000;
const MAX_EVENTS = 1_000;
const MAX_BYTES = 4_194_304;
const RETRY_MS = 1_000;

type Event = { readonly n: number; readonly text: string };

/** One stream of a session whose events are kept for a client that comes back. */
export class ReplayStream {
  readonly id: string;
  readonly #events: Event[] = [];
  #lastN = 0;
  #bytes = 0;
  #sink: Sink | null = null;
  #isDone = false;
  /** When it may be forgotten; null while it goes on. */
  forgetAtMs: number | null = null;

  /** Of a session's own stream, not of one answer. */
  readonly isStanding: boolean;
  #ended: () => void = () => undefined;

  constructor(id: string, isStanding: boolean) {
    this.id = id;
    this.isStanding = isStanding;
  }

  /** The first event of a stream: with it a client can come back even if nothing else arrived. Old clients can't read it. */
  primer(retryMs: number = RETRY_MS): string {
    return `id: ${this.id}_0\nretry: ${retryMs}\ndata: \n\n`;
  }

  /** Writes the events behind `n` to a client, and goes on there. `ended` is called when nothing more comes. */
  attach(sink: Sink, n: number, ended: () => void = () => undefined): void {
    this.#sink = sink;
    this.#ended = ended;
    if (!this.#isDone) this.forgetAtMs = null;
    for (const event of this.#events) if (event.n > n) void sink.write(event.text);
    if (this.#isDone) this.#endSink();
  }

  /** The client has left, or is sent away to come back: what follows is kept. */
  detach(sink: Sink): void {
    if (this.#sink === sink) this.#sink = null;
  }

  /** Sends a message. The promise of a slow client. */
  write(message: unknown): void | Promise<void> {
    const n = ++this.#lastN;
    const text = messageEvent(message, `${this.id}_${n}`);
    this.#events.push({ n, text });
    this.#bytes += text.length;
    while (this.#events.length > MAX_EVENTS || (this.#bytes > MAX_BYTES && this.#events.length > 1))
      this.#bytes -= this.#events.shift()?.text.length ?? 0;
    return this.#sink?.write(text);
  }

  /** Nothing more comes. */
  end(nowMs: number): void {
    this.#isDone = true;
    this.forgetAtMs = nowMs + (this.#sink === null || this.#sink.gone ? KEPT_MS : KEPT_WHEN_WHOLE_MS);
    this.#endSink();
  }

  /** Nobody listens now: what is there is kept for a while. */
  forgetLater(nowMs: number): void {
    this.forgetAtMs = nowMs + KEPT_MS;
  }

  #endSink(): void {
    this.#sink?.end();
    this.#sink = null;
    this.#ended();
  }
}

/** The streams of all sessions that clients may come back to. */
export class Replays {
  readonly #now: () => number;
  /** Session → its streams by id. */
  readonly #streams = new Map<string, Map<string, ReplayStream>>();
  /** So that no id of before a restart is taken for one of now. */
  readonly #mark = crypto.randomUUID().slice(0, 8);
  #last = 0;
  #isSweeping = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A new stream of a session. */
  open(session: string, isStanding = false): ReplayStream {
    const stream = new ReplayStream(`${this.#mark}-${++this.#last}`, isStanding);
    this.#streams.set(session, (this.#streams.get(session) ?? new Map()).set(stream.id, stream));
    this.#sweepLater();
    return stream;
  }

  /** The stream of an event id, and which of its events that was; null for what is no longer kept, and for other sessions'. */
  find(session: string, eventId: string): { readonly stream: ReplayStream; readonly n: number } | null {
    const [, id = "", n = ""] = /^(.+)_(\d+)$/.exec(eventId) ?? [];
    const stream = this.#streams.get(session)?.get(id);
    return stream === undefined ? null : { stream, n: Number(n) };
  }

  /** Forgets a session's streams. */
  forget(session: string): void {
    this.#streams.delete(session);
  }

  #sweepLater(): void {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    setTimeout(() => {
      this.#isSweeping = false;
      this.#sweep();
      if (this.#streams.size > 0) this.#sweepLater();
    }, SWEEP_MS);
  }

  #sweep(): void {
    const now = this.#now();
    for (const [session, streams] of this.#streams) {
      for (const [id, { forgetAtMs }] of streams) if (forgetAtMs !== null && forgetAtMs < now) streams.delete(id);
      if (streams.size === 0) this.#streams.delete(session);
    }
  }
}
