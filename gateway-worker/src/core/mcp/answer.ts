import { errorAnswer, type JsonObject, messageEvent, SESSION_HEADER } from "@agent-env/protocol";
import type { Field, Out, Sink } from "../seam.ts";
import { Timer } from "../timing.ts";
import type { Forms } from "./accept.ts";
import type { StreamPlace } from "./stream-places.ts";

/** A call that is longer under way than this is answered as a stream. */
const JSON_WITHIN_MS = 1_000;
const KEEP_ALIVE_MS = 15_000;

/** Of every stream of our own. */
export const STREAM_FIELDS: readonly Field[] = [
  ["content-type", "text/event-stream"],
  ["cache-control", "no-store"],
  ["x-accel-buffering", "no"],
];

/**
 * The answer to one POST: JSON where that is all there is to say and soon enough, else a stream that begins with the first
 * notification.
 */
export class Answer {
  readonly #out: Out;
  readonly #forms: Forms;
  readonly #fields: readonly Field[];
  readonly #timer = new Timer();
  #sink: Sink | null = null;
  #isEnded = false;
  #mayOpen: () => StreamPlace | null = () => () => undefined;
  #leavePlace: StreamPlace = () => undefined;

  constructor(out: Out, forms: Forms, fields: readonly Field[]) {
    this.#out = out;
    this.#forms = forms;
    this.#fields = fields;
    out.onGone(() => {
      this.#timer.stop();
      this.#leavePlace();
    });
  }

  /** Opens a stream only where `place` gives it one. Without, the reply comes as JSON, and nothing ahead of it. */
  streamsOnlyIn(place: () => StreamPlace | null): void {
    this.#mayOpen = place;
  }

  /** For a call: it may take long, and be followed by notifications. */
  mayTakeLong(): void {
    if (this.#forms.sse) this.#timer.set(JSON_WITHIN_MS, () => this.#opened());
  }

  /** Sends a message ahead of the reply; the promise of a slow client. One that takes no stream doesn't get it. */
  say(message: JsonObject): void | Promise<void> {
    if (this.#isEnded || !this.#forms.sse) return undefined;
    return this.#opened()?.write(messageEvent(message));
  }

  /** The reply, and the end. `session` is the id of a session that it opens. */
  finish(reply: JsonObject | readonly JsonObject[], session?: string): void {
    const fields: Field[] = session === undefined ? [] : [[SESSION_HEADER, session]];
    if (this.#end()) return;
    if (this.#sink !== null || !this.#forms.json) {
      const sink = this.#sink ?? this.#out.stream(200, [...STREAM_FIELDS, ...this.#fields, ...fields]);
      for (const message of Array.isArray(reply) ? reply : [reply]) void sink.write(messageEvent(message));
      sink.end();
    } else this.#reply(200, JSON.stringify(reply), fields);
  }

  /** A notification was taken. */
  accepted(): void {
    if (!this.#end()) this.#out.reply(202, [["content-length", "0"], ...this.#fields]);
  }

  /** Ends without a reply: the request was cancelled. */
  abandon(): void {
    if (this.#end()) return;
    (this.#sink ?? this.#out.stream(200, [...STREAM_FIELDS, ...this.#fields])).end();
  }

  /** An error before anything was done. */
  refuse(status: number, error: { id: unknown; code: number; message: string }, fields: readonly Field[] = []): void {
    if (!this.#end()) this.#reply(status, JSON.stringify(errorAnswer(error.id, error.code, error.message)), fields);
  }

  #reply(status: number, body: string, fields: readonly Field[]): void {
    this.#out.reply(status, [["content-type", "application/json"], ...this.#fields, ...fields], body);
  }

  #end(): boolean {
    const wasEnded = this.#isEnded;
    this.#isEnded = true;
    this.#timer.stop();
    this.#leavePlace();
    return wasEnded;
  }

  #opened(): Sink | null {
    if (this.#sink !== null) return this.#sink;
    const place = this.#mayOpen();
    if (place === null) return null;
    this.#leavePlace = place;
    const sink = this.#out.stream(200, [...STREAM_FIELDS, ...this.#fields]);
    this.#sink = sink;
    void sink.write(": open\n\n");
    const keepAlive = (): void => {
      if (sink.gone || this.#isEnded) return;
      void sink.write(": still here\n\n");
      this.#timer.set(KEEP_ALIVE_MS, keepAlive);
    };
    this.#timer.set(KEEP_ALIVE_MS, keepAlive);
    return sink;
  }
}
