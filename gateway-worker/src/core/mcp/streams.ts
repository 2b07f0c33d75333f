import { messageEvent } from "@agent-env/protocol";
import { mayUse } from "../deployment/catalogue.ts";
import type { Deployment } from "../deployment/deployment.ts";
import type { Session } from "../deployment/sessions.ts";
import type { Field, Out, Sink } from "../seam.ts";
import { Timer } from "../timing.ts";
import { STREAM_FIELDS } from "./answer.ts";

const KEEP_ALIVE_MS = 15_000;
const LIST_CHANGED = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };

type Stream = { readonly session: Session; readonly sink: Sink; readonly timer: Timer; shown: string };

/** The notification streams of legacy sessions: the newest of each session counts. */
export class Streams {
  readonly #deployment: Deployment;
  readonly #streams = new Map<string, Stream>();

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
    deployment.onToolsChanged(() => this.#tellChanged());
  }

  /** Opens a session's stream, in place of the one it had. */
  open(session: Session, out: Out, fields: readonly Field[]): void {
    this.close(session);
    const sink = out.stream(200, [...STREAM_FIELDS, ...fields]);
    const stream = { session, sink, timer: new Timer(), shown: this.#shownTo(session) };
    this.#streams.set(session.key, stream);
    out.onGone(() => this.#forget(stream));
    void sink.write(": open\n\n");
    this.#keepAlive(stream);
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
      void stream.sink.write(": still here\n\n");
      this.#keepAlive(stream);
    });
  }

  #forget(stream: Stream): void {
    stream.timer.stop();
    if (this.#streams.get(stream.session.key) === stream) this.#streams.delete(stream.session.key);
  }

  /** Only those whose own list has changed are told. */
  #tellChanged(): void {
    for (const stream of this.#streams.values()) {
      const shown = this.#shownTo(stream.session);
      if (shown === stream.shown) continue;
      stream.shown = shown;
      void stream.sink.write(messageEvent(LIST_CHANGED));
    }
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
