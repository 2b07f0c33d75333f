import { messageEvent } from "@agent-env/protocol";
import { inBackground } from "../background.ts";
import { mayUse } from "../deployment/catalogue.ts";
import type { Deployment } from "../deployment/deployment.ts";
import type { Session } from "../deployment/sessions.ts";
import type { Field, Out, Sink } from "../seam.ts";
import { Timer } from "../timing.ts";
import { STREAM_FIELDS } from "./answer.ts";
import type { StreamPlace, StreamPlaces } from "./stream-places.ts";

const KEEP_ALIVE_MS = 15_000;
const LIST_CHANGED = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };

type Stream = { readonly session: Session; readonly sink: Sink; readonly timer: Timer; shown: string; isSlow: boolean; leave: StreamPlace };

/** The notification streams of legacy sessions: the newest of each session counts. */
export class Streams {
  readonly #deployment: Deployment;
  readonly #places: StreamPlaces;
  readonly #streams = new Map<string, Stream>();

  constructor(deployment: Deployment, places: StreamPlaces) {
    this.#deployment = deployment;
    this.#places = places;
    deployment.onToolsChanged(() => this.#tellChanged());
  }

  /** Opens a session's stream, in place of the one it had. False: too many are open. */
  open(session: Session, out: Out, fields: readonly Field[]): boolean {
    this.close(session);
    const leave = this.#places.take(session.key);
    if (leave === null) return false;
    const sink = out.stream(200, [...STREAM_FIELDS, ...fields]);
    const stream = { session, sink, timer: new Timer(), shown: this.#shownTo(session), isSlow: false, leave };
    this.#streams.set(session.key, stream);
    out.onGone(() => this.#forget(stream));
    this.#write(stream, ": open\n\n");
    this.#keepAlive(stream);
    return true;
  }

  /** Ends a session's stream. */
  close(session: Session): void {
    const stream = this.#streams.get(session.key);
    if (stream === undefined) return;
    this.#forget(stream);
    stream.sink.end();
  }

  #keepAlive(stream: Stream): void {
    stream.timer.set(KEEP_ALIVE_MS, () => {
      if (stream.sink.gone) return this.#forget(stream);
      this.#write(stream, ": still here\n\n");
      this.#keepAlive(stream);
    });
  }

  /** A client that doesn't read has at most one message waiting for it; it is told of changes when it has read that. */
  #write(stream: Stream, text: string): void {
    if (stream.isSlow) return;
    const slow = stream.sink.write(text);
    if (slow === undefined) return;
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
    if (this.#streams.get(stream.session.key) === stream) this.#streams.delete(stream.session.key);
  }

  /** Only those whose own list has changed are told. */
  #tellChanged(): void {
    for (const stream of this.#streams.values()) this.#tell(stream);
  }

  #tell(stream: Stream): void {
    if (stream.isSlow || stream.sink.gone) return;
    const shown = this.#shownTo(stream.session);
    if (shown === stream.shown) return;
    stream.shown = shown;
    this.#write(stream, messageEvent(LIST_CHANGED));
  }

  #shownTo({ role }: Session): string {
    const { rules } = this.#deployment;
    return JSON.stringify(
      this.#deployment
        .catalogue()
        .entries.filter((entry) => mayUse(rules, role, entry))
        .map(({ tool }) => tool),
    );
  }
}
