import { isJsonObject, type JsonObject, receivedJson } from "@agent-env/protocol";
import { inBackground } from "../background.ts";
import { Fault, type Host, type UpExchange } from "../seam.ts";
import { Timer, within } from "../timing.ts";
import { BadAnswer } from "./bad-answer.ts";
import { EventTooLarge, type SseEvent, SseReader } from "./sse.ts";

/** With no caller for this long the stream is let go: on Workers it keeps the deployment's object in memory. */
const UNUSED_MS = 600_000;
const LOOK_MS = 60_000;
/** A server that ends its stream sooner than this has none to offer; it isn't taken for gone. */
const SHORTEST_MS = 1_000;

export type WatchOptions = {
  readonly host: Host;
  readonly maxBytes: number;
  /** Asks for the stream. Throws `Fault` and `BadAnswer`. */
  readonly ask: () => Promise<UpExchange>;
  readonly now: () => number;
  readonly heard: (message: JsonObject) => void;
  /** The server ended a stream that had been open for a while. */
  readonly gone: (reason: string) => void;
};

/** A notification stream from one server, where the server offers one. It tells of changes, and that the server went away. */
export class Watch {
  readonly #options: WatchOptions;
  readonly #timer = new Timer();
  #exchange: UpExchange | null = null;
  #usedMs = 0;
  /** Open as soon as somebody asks: the server is up, and the stream was let go, or not opened yet. */
  #isWanted = false;
  #isClosed = false;
  #isListening = false;
  /** Settled once the server has answered, in whatever way. */
  #answered = Promise.withResolvers<void>();
  /** The server has none to offer. */
  #isRefused = false;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** The server has come up: listens to it from now on. */
  open(): void {
    this.#isWanted = true;
    this.used();
  }

  /** Opens the stream unless it is open, and waits until it is: for so long, and not where the server has none to offer. */
  async opened(ms: number): Promise<void> {
    if (this.#isRefused) return;
    this.open();
    await within(this.#answered.promise, ms);
  }

  /** A caller is there: opens the stream again if it was let go. */
  used(): void {
    this.#usedMs = this.#options.now();
    if (this.#isWanted && !this.#isClosed && !this.#isListening) inBackground(this.#options.host, this.#listen());
  }

  async #listen(): Promise<void> {
    const { ask, gone, now, maxBytes } = this.#options;
    const openedMs = now();
    this.#isWanted = false;
    this.#isListening = true;
    const answered = Promise.withResolvers<void>();
    this.#answered = answered;
    try {
      const exchange = await ask();
      this.#exchange = exchange;
      this.#look();
      if (this.#isClosed) exchange.abort();
      const response = await exchange.response;
      const isStream = response.status === 200 && (response.header("content-type") ?? "").startsWith("text/event-stream");
      this.#isRefused = !isStream && response.status < 500;
      answered.resolve();
      const reader = new SseReader(maxBytes);
      if (isStream) await response.pump((chunk) => this.#take(reader.push(chunk)));
      else response.discard();
      if (isStream && !this.#isClosed && now() - openedMs > SHORTEST_MS) gone("its notification stream ended");
    } catch (error) {
      if (!(error instanceof Fault || error instanceof BadAnswer || error instanceof EventTooLarge)) throw error;
      if (!this.#isWanted && !this.#isClosed && now() - openedMs > SHORTEST_MS) gone(error instanceof Fault ? error.reason : error.message);
    } finally {
      this.#timer.stop();
      this.#exchange = null;
      this.#isListening = false;
      answered.resolve();
    }
  }

  /** Ends the stream for good. */
  close(): void {
    this.#isClosed = true;
    this.#timer.stop();
    this.#exchange?.abort();
  }

  #take(events: readonly SseEvent[]): void {
    for (const event of events) {
      const read = receivedJson(event.data);
      const message = "value" in read ? read.value : undefined;
      if (isJsonObject(message) && typeof message["method"] === "string") this.#options.heard(message);
    }
  }

  /** Lets the stream go when nobody has asked for the deployment for a while. */
  #look(): void {
    this.#timer.set(LOOK_MS, () => {
      if (this.#options.now() - this.#usedMs < UNUSED_MS) return this.#look();
      this.#isWanted = true;
      this.#exchange?.abort();
    });
  }
}
