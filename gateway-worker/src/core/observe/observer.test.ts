import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, test } from "vitest";
import { anyone } from "../auth/caller.ts";
import type { Route } from "../route.ts";
import { ClientFault, type Field, type In, type Out } from "../seam.ts";
import type { View } from "../view.ts";
import { SpanExporter } from "./exporter.ts";
import { Observer } from "./observer.ts";
import type { Watched } from "./watched.ts";

const request: In = {
  method: "GET",
  scheme: "https",
  host: "h",
  path: "/state",
  base: "",
  pageBase: "",
  door: "callers",
  sharesOrigin: false,
  peer: undefined,
  hasBody: false,
  wantsUpgrade: false,
  header: () => undefined,
  headers: () => [],
  bytes: () => Promise.resolve(null),
  pump: () => Promise.resolve(),
};
const view = { auth: { mode: "open", deployment: "d1", keys: [] } } as unknown as View;
const toState: Route = { to: "app", need: { scope: "read", page: null } };
const works = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** An observer, and the spans that it would send. */
function observed(tellsTimes = false) {
  const bodies: string[] = [];
  const exporter = new SpanExporter({
    telemetry: { url: "http://c", headers: [], service: "s" },
    maxQueued: 100,
    upstream: ({ body }) => {
      bodies.push(String(body));
      return { response: new Promise(() => undefined), abort: () => undefined };
    },
    log: () => undefined,
  });
  const observer = new Observer({ carrier: new AsyncLocalStorage<Watched>(), tellsTimes, exporter });
  const spans = () => {
    void exporter.drain();
    const [body = '{"resourceSpans":[{"scopeSpans":[{"spans":[]}]}]}'] = bodies;
    return JSON.parse(body).resourceSpans[0].scopeSpans[0].spans.map(
      ({ name, attributes, status }: { name: string; attributes: { key: string; value: object }[]; status?: object }) => [
        name,
        attributes
          .filter(({ key }) => ["error.type", "http.response.status_code"].includes(key))
          .flatMap(({ value }) => Object.values(value)),
        status,
      ],
    );
  };
  return { observer, spans, host: { background: () => undefined, log: () => undefined } };
}

/** Takes one answer. */
function answerTo(fields: Field[]): Out {
  const note = (_status: number, headers: readonly Field[]) => void fields.push(...headers);
  return {
    reply: note,
    stream: () => {
      throw new Error("no stream is expected");
    },
    relay: () => Promise.reject(new Error("no relay is expected")),
    onGone: () => undefined,
  };
}

describe("a request that is watched", () => {
  test("waits for two servers at once as long as for the slower one", async () => {
    const { observer, host } = observed(true);
    const fields: Field[] = [];
    let tookMs = 0;
    await observer.watch(request, host, async (watched) => {
      watched.admitted({ ...anyone(), scopes: null });
      const began = performance.now();
      const calls = [watched.call("a", {}), watched.call("b", {})];
      await works(30);
      for (const call of calls) call.end({}, null);
      tookMs = performance.now() - began;
      watched.over(answerTo(fields)).reply(200, []);
    });
    const upstreamMs = Number(/^gateway;dur=.+, upstream;dur=(.+)$/.exec(fields[0]?.[1] ?? "")?.[1]);
    expect(upstreamMs).toBeGreaterThan(25);
    expect(upstreamMs).toBeLessThanOrEqual(tookMs + 0.001);
  });

  test("is known to what is done for it, and to nothing that goes on after it", async () => {
    const { observer, host } = observed();
    const later = Promise.withResolvers<void>();
    let goesOn: Promise<Watched | undefined> | undefined;
    await observer.watch(request, host, async (watched) => {
      await works(1);
      expect(observer.current()).toBe(watched);
      goesOn = later.promise.then(() => observer.current());
    });
    later.resolve();
    expect([await goesOn, observer.current()]).toEqual([undefined, undefined]);
  });

  test.each([
    ["a bug", new RangeError("deep"), ["GET /state", ["500", "RangeError"], { code: 2 }]],
    ["a client that left", new ClientFault("left"), ["GET /state", ["400", "ClientFault"], { code: 2 }]],
    ["a client that stalled", new ClientFault("slow"), ["GET /state", ["408", "ClientFault"], { code: 2 }]],
  ])("that %s ends says so, and throws it on", async (_name, error, span) => {
    const { observer, spans, host } = observed();
    const work = observer.watch(request, host, async (watched) => {
      watched.routed(toState, view);
      throw error;
    });
    await expect(work).rejects.toBe(error);
    expect(spans()).toEqual([span]);
  });

  test("without an answer was abandoned, or has become a WebSocket", async () => {
    const { observer, spans, host } = observed();
    await observer.watch(request, host, async (watched) => watched.routed(toState, view));
    await observer.watch({ ...request, wantsUpgrade: true }, host, async (watched) => watched.routed(toState, view));
    expect(spans()).toEqual([
      ["GET /state", ["abandoned"], { code: 2 }],
      ["GET /state", ["101"], undefined],
    ]);
  });
});
