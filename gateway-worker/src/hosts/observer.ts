import { AsyncLocalStorage } from "node:async_hooks";
import { SpanExporter } from "../core/observe/exporter.ts";
import { Observer } from "../core/observe/observer.ts";
import type { Watched } from "../core/observe/watched.ts";
import type { Host } from "../core/seam.ts";
import type { Settings } from "../core/settings.ts";

/** What watches the requests of a host; undefined where the settings ask for nothing that it would tell. */
export function observerFor(settings: Settings, parts: Pick<Host, "upstream" | "log">): Observer | undefined {
  const { serverTiming: tellsTimes, telemetry, maxQueuedSpans: maxQueued } = settings;
  if (!tellsTimes && telemetry === null) return undefined;
  const { upstream, log } = parts;
  const exporter = telemetry === null ? null : new SpanExporter({ telemetry, maxQueued, upstream, log });
  return new Observer({ carrier: new AsyncLocalStorage<Watched>(), tellsTimes, exporter });
}
