import { describe, expect, test } from "vitest";
import { Fault, type UpRequest, type UpResponse } from "../seam.ts";
import { SpanExporter } from "./exporter.ts";
import type { Span } from "./span.ts";

const span = (n: number): Span => ({
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: n.toString(16).padStart(16, "0"),
  parentId: null,
  name: `span ${n}`,
  kind: "server",
  startMs: 1,
  endMs: 2,
  attributes: {},
  isError: false,
});

/** What a collector answers, in order; the last one again and again. */
type Said = { readonly status: number; readonly body?: string } | Fault;

function exporterTo(answers: readonly Said[], maxQueued = 2_048) {
  const received: string[][] = [];
  const log: string[] = [];
  const begun: Promise<unknown>[] = [];
  const upstream = ({ body }: UpRequest) => {
    const names = [...String(body).matchAll(/"name":"(span \d+)"/g)].map(([, name]) => name ?? "");
    const said = answers[Math.min(received.push(names) - 1, answers.length - 1)] ?? { status: 200 };
    const response = said instanceof Fault ? Promise.reject(said) : Promise.resolve(answered(said.status, said.body ?? "{}"));
    return { response, abort: () => undefined };
  };
  const exporter = new SpanExporter({
    telemetry: { url: "http://collector/v1/traces", headers: [["x-key", "k"]], service: "s" },
    maxQueued,
    upstream,
    log: (line) => void log.push(line),
  });
  const host = { background: (work: Promise<unknown>) => void begun.push(work), log: (line: string) => void log.push(line) };
  return { exporter, host, received, log, begun };
}

function answered(status: number, body: string): UpResponse {
  const pump: UpResponse["pump"] = async (take) => await take(new TextEncoder().encode(body));
  return { status, header: () => undefined, headers: () => [], pump, pumpDecoded: pump, isReadable: true, discard: () => undefined };
}

describe("spans", () => {
  test("are sent together, a moment after the first, in the background", async () => {
    const { exporter, host, received, begun } = exporterTo([{ status: 200 }]);
    for (const n of [1, 2, 3]) exporter.add(span(n), host);
    expect([received, begun.length, exporter.exported]).toEqual([[], 1, { queued: 3, sent: 0, dropped: 0, trouble: null }]);
    await Promise.all(begun);
    expect([received, exporter.exported]).toEqual([[["span 1", "span 2", "span 3"]], { queued: 0, sent: 3, dropped: 0, trouble: null }]);
  });

  test("go out in batches of 512", async () => {
    const { exporter, host, received } = exporterTo([{ status: 200 }]);
    for (let n = 0; n < 1_100; n++) exporter.add(span(n), host);
    await exporter.drain();
    expect(received.map((names) => names.length)).toEqual([512, 512, 76]);
  });

  test("for which there is no room are dropped, and counted", async () => {
    const { exporter, host, received } = exporterTo([{ status: 200 }], 2);
    for (const n of [1, 2, 3, 4]) exporter.add(span(n), host);
    await exporter.drain();
    expect([received, exporter.exported]).toEqual([[["span 1", "span 2"]], { queued: 0, sent: 2, dropped: 2, trouble: null }]);
  });

  test.each([
    ["503", { status: 503 }, "HTTP 503"],
    ["429", { status: 429 }, "HTTP 429"],
    ["no connection", new Fault("refused", "connection refused"), "connection refused"],
  ])("that a collector couldn't take are sent again: %s", async (_name, said, trouble) => {
    const { exporter, host, received, log } = exporterTo([said, said, { status: 200 }]);
    exporter.add(span(1), host);
    await exporter.drain();
    expect(exporter.exported).toEqual({ queued: 1, sent: 0, dropped: 0, trouble });
    exporter.add(span(2), host);
    await exporter.drain();
    await exporter.drain();
    expect([received, exporter.exported]).toEqual([
      [["span 1"], ["span 1", "span 2"], ["span 1", "span 2"]],
      { queued: 0, sent: 2, dropped: 0, trouble: null },
    ]);
    expect(log).toEqual([`spans can't be sent to the collector: ${trouble}`]);
  });

  test("that are put back are bounded too: the newest go", async () => {
    const { exporter, host, received } = exporterTo([{ status: 503 }, { status: 200 }], 2);
    for (const n of [1, 2]) exporter.add(span(n), host);
    const draining = exporter.drain();
    exporter.add(span(3), host);
    await draining;
    await exporter.drain();
    expect([received, exporter.exported]).toEqual([
      [
        ["span 1", "span 2"],
        ["span 1", "span 2"],
      ],
      { queued: 0, sent: 2, dropped: 1, trouble: null },
    ]);
  });

  test("that a collector refuses are dropped, and counted", async () => {
    const { exporter, host } = exporterTo([{ status: 401 }]);
    exporter.add(span(1), host);
    await exporter.drain();
    expect(exporter.exported).toEqual({ queued: 0, sent: 0, dropped: 1, trouble: "HTTP 401" });
  });

  test("of which it rejects some are counted as it says", async () => {
    const { exporter, host } = exporterTo([{ status: 200, body: '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"no"}}' }]);
    for (const n of [1, 2]) exporter.add(span(n), host);
    await exporter.drain();
    expect(exporter.exported).toEqual({ queued: 0, sent: 1, dropped: 1, trouble: "it rejected 1 of 2" });
  });

  test("are tried again by themselves, some times", async () => {
    const { exporter, host, received, begun } = exporterTo([new Fault("refused", "connection refused"), { status: 200 }]);
    exporter.add(span(1), host);
    await begun[0];
    expect([received.length, begun.length]).toEqual([1, 2]);
    await begun[1];
    expect([received.length, begun.length, exporter.exported.sent]).toEqual([2, 2, 1]);
  });
});
