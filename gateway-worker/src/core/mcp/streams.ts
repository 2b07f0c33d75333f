import type { JsonObject } from "@agent-env/protocol";
import { inBackground } from "../background.ts";
import type { Deployment } from "../deployment/deployment.ts";
import type { Session } from "../deployment/sessions.ts";
import type { Field, Out, Sink } from "../seam.ts";
import { Timer } from "../timing.ts";
import { STREAM_FIELDS } from "./answer.ts";
import { changedBetween, type Looks, looksTo } from "./changes.ts";
import { isWanted } from "./log-level.ts";
import type { ReplayStream, Replays } from "./replay.ts";
import type { Requests } from "./requests.ts";
import type { StreamPlace, StreamPlaces } from "./stream-places.ts";

const KEEP_ALIVE_MS = 15_000;

type Stream = {
  readonly session: Session;
  readonly sink: Sink;
  readonly replay: ReplayStream;
  readonly timer: Timer;
  looks: Looks;
  isSlow: boolean;
  leave: StreamPlace;
};

/** The notification streams of legacy sessions: the newest of each session counts. */
export class Streams {
  readonly #deployment: Deployment;
  readonly #places: StreamPlaces;
  readonly #requests: Requests;
  readonly #replays: Replays;
  readonly #streams = new Map<string, Stream>();

  constructor(parts: { deployment: Deployment; places: StreamPlaces; requests: Requests; replays: Replays }) {
    this.#deployment = parts.deployment;
    this.#places = parts.places;
    this.#requests = parts.requests;
    this.#replays = parts.replays;
    parts.deployment.onListsChanged(() => this.#tellChanged());
  }

  /**
   * Opens a session's stream, in place of the one it had; or takes up the one that `lastEventId` is of. False: too many are open.
   */
  open(session: Session, out: Out, options: { fields: readonly Field[]; lastEventId: string | undefined }): boolean {
    const { fields, lastEventId } = options;
    const resumed = lastEventId === undefined ? null : this.#replays.find(session.key, lastEventId);
    const own = this.#streams.get(session.key);
    if (resumed !== null && resumed.stream !== own?.replay && !resumed.stream.isStanding)
      return this.#resume(session, out, fields, resumed);
    this.close(session);
    const leave = this.#places.take(session.key);
    if (leave === null) return false;
    const sink = out.stream(200, [...STREAM_FIELDS, ...fields]);
    const replay = resumed?.stream ?? this.#replays.open(session.key, true);
    const stream = { session, sink, replay, timer: new Timer(), looks: this.#looks(session), isSlow: false, leave };
    this.#streams.set(session.key, stream);
    out.onGone(() => this.#forget(stream));
    void sink.write(": open\n\n");
    replay.attach(sink, resumed?.n ?? 0);
    this.#keepAlive(stream);
    for (const { mcp } of this.#deployment.serving()) mcp.lanes.listen(session.key);
    return true;
  }

  /** Whether a session has a stream on which it can be told something. */
  has(session: string): boolean {
    return this.#streams.has(session);
  }

  /** Sends a message to a session that has a stream, log lines only where it wants them. */
  send(session: string, message: JsonObject): boolean {
    const stream = this.#streams.get(session);
    if (stream === undefined || stream.sink.gone) return false;
    const isLine = message["method"] === "notifications/message";
    if (isLine && !isWanted(message, this.#deployment.sessions.level(stream.session))) return true;
    this.#write(stream, message);
    return true;
  }

  /** Ends a session's stream. */
  close(session: Session): void {
    const stream = this.#streams.get(session.key);
    if (stream === undefined) return;
    this.#forget(stream);
    stream.sink.end();
  }

  /** Goes on with the stream of a call behind an event. */
  #resume(session: Session, out: Out, fields: readonly Field[], { stream, n }: { stream: ReplayStream; n: number }): boolean {
    const leave = this.#places.take(session.key);
    if (leave === null) return false;
    const sink = out.stream(200, [...STREAM_FIELDS, ...fields]);
    const timer = new Timer();
    const keepAlive = (): void => {
      if (sink.gone) {
        leave();
        return;
      }
      void sink.write(": still here\n\n");
      timer.set(KEEP_ALIVE_MS, keepAlive);
    };
    out.onGone(() => {
      timer.stop();
      leave();
      stream.detach(sink);
    });
    timer.set(KEEP_ALIVE_MS, keepAlive);
    void sink.write(": open\n\n");
    stream.attach(sink, n, () => {
      timer.stop();
      leave();
    });
    return true;
  }

  #keepAlive(stream: Stream): void {
    stream.timer.set(KEEP_ALIVE_MS, () => {
      if (stream.sink.gone) return this.#forget(stream);
      this.#deployment.keepCaller(stream.session.key);
      if (!stream.isSlow) void stream.sink.write(": still here\n\n");
      this.#keepAlive(stream);
    });
  }

  /** A client that doesn't read is told of changed lists when it has read what waits for it. */
  #write(stream: Stream, message: JsonObject): void {
    const slow = stream.replay.write(message);
    if (slow === undefined || stream.isSlow) return;
    stream.isSlow = true;
    const read = slow.then(() => {
      stream.isSlow = false;
      this.#tell(stream);
    });
    inBackground(this.#deployment.host, read);
  }

  #forget(stream: Stream): void {
    stream.timer.stop();
    stream.leave();
    stream.replay.detach(stream.sink);
    stream.replay.forgetLater(this.#deployment.now());
    if (this.#streams.get(stream.session.key) === stream) this.#streams.delete(stream.session.key);
  }

  /** Only those whose own lists have changed are told. */
  #tellChanged(): void {
    for (const stream of this.#streams.values()) this.#tell(stream);
  }

  #tell(stream: Stream): void {
    if (stream.isSlow || stream.sink.gone) return;
    const looks = this.#looks(stream.session);
    const methods = changedBetween(stream.looks, looks);
    stream.looks = looks;
    for (const method of methods) this.#write(stream, { jsonrpc: "2.0", method });
  }

  #looks({ role, capabilities }: Session): Looks {
    return looksTo(this.#requests, { era: "legacy", capabilities }, role);
  }
}
