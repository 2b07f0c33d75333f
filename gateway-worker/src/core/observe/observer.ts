import type { Host, In } from "../seam.ts";
import type { SpanExporter } from "./exporter.ts";
import { Watched } from "./watched.ts";

/** Carries a value along with the work that it is given to, over awaits and timers: `AsyncLocalStorage` on both hosts. */
export interface Carrier<Value> {
  run<Result>(value: Value, work: () => Result): Result;
  getStore(): Value | undefined;
}

export type ObserverParts = {
  readonly carrier: Carrier<Watched>;
  /** Whether answers tell their callers how long they took. */
  readonly tellsTimes: boolean;
  /** Where spans go; null where nobody collects them. */
  readonly exporter: SpanExporter | null;
};

/**
 * Watches requests, and what they ask of servers. A host that is told to watch nothing has none: then a request costs one
 * comparison here, one where it is answered, and one for each exchange with a server.
 */
export class Observer {
  readonly #parts: ObserverParts;

  constructor(parts: ObserverParts) {
    this.#parts = parts;
  }

  /** Where spans go; null where nobody collects them. */
  get exporter(): SpanExporter | null {
    return this.#parts.exporter;
  }

  /** Watches a request while `work` answers it. What it throws is thrown on. */
  async watch(request: In, host: Pick<Host, "background" | "log">, work: (watched: Watched) => Promise<void>): Promise<void> {
    const { carrier, tellsTimes, exporter } = this.#parts;
    const watched = new Watched(request, { tellsTimes, collect: exporter === null ? null : (span) => exporter.add(span, host) });
    try {
      await carrier.run(watched, () => work(watched));
    } catch (error) {
      watched.broke(error);
      throw error;
    } finally {
      watched.end();
    }
  }

  /** The request that is being answered. What goes on after its answer, as a trigger's actions do, is none of it. */
  current(): Watched | undefined {
    const watched = this.#parts.carrier.getStore();
    return watched?.isOver === true ? undefined : watched;
  }
}
