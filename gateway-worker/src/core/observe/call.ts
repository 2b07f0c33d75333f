import type { Field } from "../seam.ts";
import type { Attributes, Span } from "./span.ts";
import { below, type TraceContext, withContext } from "./trace-context.ts";
import type { Watched } from "./watched.ts";

/** A request to a server, on behalf of one that is watched. It has to be ended, once. */
export class Call {
  readonly #watched: Watched;
  readonly #about: { readonly name: string; readonly attributes: Attributes };
  readonly #startMs: number;
  readonly #context: TraceContext | null;

  constructor(watched: Watched, about: { readonly name: string; readonly attributes: Attributes }) {
    this.#watched = watched;
    this.#about = about;
    this.#startMs = watched.nowMs();
    this.#context = watched.context === null ? null : below(watched.context);
  }

  /** The fields to send: they name this call as what the server works for. Where nobody collects spans they stay as they are. */
  traced(fields: readonly Field[]): readonly Field[] {
    return this.#context === null ? fields : withContext(fields, this.#context);
  }

  /** It came to this. `error` is a short word for what went wrong. */
  end(attributes: Attributes, error: string | null): void {
    this.#watched.callEnded(this.#span({ ...this.#about.attributes, ...attributes }, error));
  }

  #span(attributes: Attributes, error: string | null): Span | null {
    const { context: parent } = this.#watched;
    if (this.#context === null || parent === null) return null;
    const { traceId, spanId } = this.#context;
    return {
      traceId,
      spanId,
      parentId: parent.spanId,
      name: this.#about.name,
      kind: "client",
      startMs: this.#startMs,
      endMs: this.#watched.nowMs(),
      attributes: error === null ? attributes : { ...attributes, "error.type": error },
      isError: error !== null,
    };
  }
}
