import { errorAnswer, type JsonObject, messageEvent, SESSION_HEADER } from "@agent-env/protocol";
import type { Field, Out, Sink } from "../seam.ts";
import { Timer } from "../timing.ts";
import type { Forms } from "./accept.ts";
import type { Era } from "./channel.ts";
import type { ReplayStream } from "./replay.ts";
import type { StreamPlace } from "./stream-places.ts";

/** A call that is longer under way than this is answered as a stream. */
const JSON_WITHIN_MS = 1_000;
/** While a modern call is under way, a client that left shows only in a write that fails. */
const KEEP_ALIVE_MS: Readonly<Record<Era, number>> = { legacy: 15_000, modern: 1_000 };

/** Of every stream of our own. */
export const STREAM_FIELDS: readonly Field[] = [
  ["content-type", "text/event-stream"],
  ["cache-control", "no-store"],
  ["x-accel-buffering", "no"],
];

export type AnswerError = { readonly id: unknown; readonly code: number; readonly message: string; readonly data?: unknown };

/** How the streams of a turn are opened. */
export type Streaming = {
  readonly era: Era;
  /** A place among the open streams; null where there is none. Then the reply comes as JSON, and nothing ahead of it. */
  readonly place: () => StreamPlace | null;
  /** Where what is sent is kept for a client that comes back; null where it can't. `isPrimed`: the client reads a primer. */
  readonly replay: (() => ReplayStream) | null;
  readonly isPrimed: boolean;
  readonly now: () => number;
};

const PLAIN: Streaming = { era: "legacy", place: () => () => undefined, replay: null, isPrimed: false, now: Date.now };

/**
 * The answer to one POST: JSON where that is all there is to say and soon enough, else a stream that begins with the first
 * notification.
 */
export class Answer {
  readonly #out: Out;
  readonly #forms: Forms;
  readonly #fields: readonly Field[];
  readonly #timer = new Timer();
  #streaming: Streaming = PLAIN;
  #sink: Sink | null = null;
  #replay: ReplayStream | null = null;
  #isEnded = false;
  #leavePlace: StreamPlace = () => undefined;
  #gone: () => void = () => undefined;

  constructor(out: Out, forms: Forms, fields: readonly Field[]) {
    this.#out = out;
    this.#forms = forms;
    this.#fields = fields;
    out.onGone(() => {
      this.#timer.stop();
      this.#leavePlace();
      if (this.#sink !== null) this.#replay?.detach(this.#sink);
      if (!this.#isEnded) this.#gone();
    });
  }

  /** Whether anything can be sent ahead of the reply. */
  get canStream(): boolean {
    return this.#forms.sse;
  }

  /** Says how streams are opened. */
  streamsAs(streaming: Streaming): void {
    this.#streaming = streaming;
  }

  /** Called once if the client leaves before its answer is complete. */
  onGone(then: () => void): void {
    this.#gone = then;
  }

  /** For a call: it may take long, and be followed by notifications. */
  mayTakeLong(): void {
    if (this.#forms.sse) this.#timer.set(JSON_WITHIN_MS, () => this.#opened());
  }

  /** Opens the stream now. False: there is no place for it, or the client takes none. */
  open(): boolean {
    return !this.#isEnded && this.#forms.sse && this.#opened() !== null;
  }

  /** Sends a message ahead of the reply; the promise of a slow client. One that takes no stream doesn't get it. */
  say(message: JsonObject): void | Promise<void> {
    if (this.#isEnded || !this.#forms.sse) return undefined;
    const sink = this.#opened();
    return sink === null ? undefined : this.#write(sink, message);
  }

  /**
   * The server has ended its stream, to be asked for the rest: where the client can come back too, it is sent away likewise,
   * and finds the reply then.
   */
  pause(retryMs: number | undefined): void {
    if (this.#isEnded || !this.#forms.sse || this.#streaming.replay === null || !this.#streaming.isPrimed) return;
    const sink = this.#opened(retryMs);
    if (sink === null) return;
    this.#replay?.detach(sink);
    this.#timer.stop();
    this.#leavePlace();
    sink.end();
  }

  /** The reply, and the end. `session` is the id of a session that it opens. `asStream`: in that form, where the client takes it. */
  finish(reply: JsonObject | readonly JsonObject[], more: { session?: string; asStream?: boolean; status?: number } = {}): void {
    const fields: Field[] = more.session === undefined ? [] : [[SESSION_HEADER, more.session]];
    if (this.#isEnded) return;
    const isStream = this.#sink !== null || !this.#forms.json || (more.asStream === true && this.#forms.sse);
    const sink = isStream ? this.#opened(undefined, fields, !this.#forms.json) : null;
    this.#end();
    if (sink === null) {
      this.#reply(more.status ?? 200, JSON.stringify(reply), fields);
      return;
    }
    for (const message of Array.isArray(reply) ? reply : [reply]) void this.#write(sink, message);
    if (this.#replay === null) sink.end();
    else this.#replay.end(this.#streaming.now());
  }

  /** A notification was taken. */
  accepted(): void {
    if (!this.#end()) this.#out.reply(202, [["content-length", "0"], ...this.#fields]);
  }

  /** Ends without a reply: the request was cancelled. */
  abandon(): void {
    if (this.#end()) return;
    if (this.#replay !== null) this.#replay.end(this.#streaming.now());
    else (this.#sink ?? this.#out.stream(200, [...STREAM_FIELDS, ...this.#fields])).end();
  }

  /** An error before anything was done. */
  refuse(status: number, error: AnswerError, fields: readonly Field[] = []): void {
    if (!this.#end()) this.#reply(status, JSON.stringify(errorAnswer(error.id, error.code, error.message, error.data)), fields);
  }

  #reply(status: number, body: string, fields: readonly Field[]): void {
    this.#out.reply(status, [["content-type", "application/json"], ...this.#fields, ...fields], body);
  }

  #write(sink: Sink, message: unknown): void | Promise<void> {
    return this.#replay === null ? sink.write(messageEvent(message)) : this.#replay.write(message);
  }

  #end(): boolean {
    const wasEnded = this.#isEnded;
    this.#isEnded = true;
    this.#timer.stop();
    this.#leavePlace();
    return wasEnded;
  }

  /** The open stream. `isForced`: the client takes nothing else. */
  #opened(retryMs?: number, fields: readonly Field[] = [], isForced = false): Sink | null {
    if (this.#sink !== null) return this.#sink;
    const { place, replay, isPrimed, era } = this.#streaming;
    const leave = place() ?? (isForced ? () => undefined : null);
    if (leave === null) return null;
    this.#leavePlace = leave;
    const sink = this.#out.stream(200, [...STREAM_FIELDS, ...this.#fields, ...fields]);
    this.#sink = sink;
    this.#replay = replay?.() ?? null;
    void sink.write(this.#replay !== null && isPrimed ? this.#replay.primer(retryMs) : ": open\n\n");
    this.#replay?.attach(sink, 0);
    const keepAlive = (): void => {
      if (sink.gone || this.#isEnded) return;
      void sink.write(": still here\n\n");
      this.#timer.set(KEEP_ALIVE_MS[era], keepAlive);
    };
    this.#timer.set(KEEP_ALIVE_MS[era], keepAlive);
    return sink;
  }
}
