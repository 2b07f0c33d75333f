import { isJsonObject, type JsonObject, receivedJson, SESSION_HEADER, VERSION_HEADER } from "@agent-env/protocol";
import { inBackground } from "../background.ts";
import { Fault, type UpExchange } from "../seam.ts";
import { Timer } from "../timing.ts";
import { BadAnswer } from "./bad-answer.ts";
import { EventTooLarge, type SseEvent, SseReader } from "./sse.ts";
import type { OpenSession, UpstreamSession, Wire } from "./upstream-session.ts";

const IDLE_MS = 3_600_000;
/** With no caller for this long the stream is let go: on Workers it keeps the deployment's object in memory. */
const UNUSED_MS = 600_000;
const LOOK_MS = 60_000;
/** A server that ends its stream sooner than this has none to offer; it isn't taken for gone. */
const SHORTEST_MS = 1_000;

export type WatchOptions = {
  readonly wire: Wire;
  /** The gateway's own session with the server. */
  readonly own: UpstreamSession;
  readonly now: () => number;
  readonly heard: (message: JsonObject) => void;
  /** The server ended a stream that had been open for a while. */
  readonly gone: (reason: string) => void;
};

/** The gateway's own notification stream from one server, where the server offers one. It tells of changes, and that the server went away. */
export class Watch {
  readonly #options: WatchOptions;
  readonly #timer = new Timer();
  #exchange: UpExchange | null = null;
  #usedMs = 0;
  /** Open as soon as somebody asks: the server is up, and the stream was let go, or not opened yet. */
  #isWanted = false;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** The server has come up: listens to it from now on. */
  open(): void {
    this.#isWanted = true;
    this.used();
  }

  /** A caller is there: opens the stream again if it was let go. */
  used(): void {
    this.#usedMs = this.#options.now();
    if (this.#isWanted && this.#exchange === null) inBackground(this.#options.wire.host, this.#listen());
  }

  async #listen(): Promise<void> {
    const { own, gone, now } = this.#options;
    const openedMs = now();
    this.#isWanted = false;
    try {
      const session = await own.opened();
      const exchange = this.#request(session);
      this.#exchange = exchange;
      this.#look();
      const response = await exchange.response;
      const isStream = response.status === 200 && (response.header("content-type") ?? "").startsWith("text/event-stream");
      const reader = new SseReader(this.#options.wire.maxBytes);
      if (isStream) await response.pump((chunk) => this.#take(reader.push(chunk)));
      else response.discard();
      if (isStream && now() - openedMs > SHORTEST_MS) gone("its notification stream ended");
    } catch (error) {
      if (!(error instanceof Fault || error instanceof BadAnswer || error instanceof EventTooLarge)) throw error;
      if (!this.#isWanted && now() - openedMs > SHORTEST_MS) gone(error instanceof Fault ? error.reason : error.message);
    } finally {
      this.#timer.stop();
      this.#exchange = null;
    }
  }

  #request(session: OpenSession): UpExchange {
    const { host, url, fields } = this.#options.wire;
    const headers: [string, string][] = [
      ["accept", "text/event-stream"],
      ["accept-encoding", "identity"],
      [VERSION_HEADER, session.version],
    ];
    if (session.id !== undefined) headers.push([SESSION_HEADER, session.id]);
    return host.upstream({ method: "GET", url, headers: [...headers, ...fields()], body: null, idleMs: IDLE_MS });
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
