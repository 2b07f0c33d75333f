import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { endHosts, HOSTS, type RunningGateway } from "../fixtures/gateway/hosts.ts";
import type { Recorder } from "../fixtures/gateway/recorder.ts";
import { type Address, Answers, type Driver, withDriver } from "../fixtures/interop/driver.ts";
import { DOCUMENT, everythingOf } from "../fixtures/interop/everything.ts";
import { everythingServer } from "../fixtures/interop/public-servers.ts";
import { sdkV1 } from "../fixtures/interop/sdk-v1.ts";
import { sdkV2 } from "../fixtures/interop/sdk-v2.ts";
import type { ServerProcess } from "../fixtures/interop/server-process.ts";
import { messagesTo, tap } from "../fixtures/interop/tap.ts";
import { until } from "../fixtures/until.ts";

type Open = (address: Address, answers?: Answers) => Promise<Driver>;
type Got = Readonly<Record<string, unknown>>;
type Client = {
  readonly client: string;
  readonly open: Open;
  /** How it reaches the server itself, which is legacy only. */
  readonly direct: Open;
  /** What it gets through the gateway where that is asked for directly. */
  readonly through: (direct: Got) => Got;
};

const LEGACY: Open = (address, answers) => sdkV2(address, "legacy", answers);
const MODERN: Open = (address, answers) => sdkV2(address, "modern", answers);
const CLIENTS: readonly Client[] = [
  { client: "SDK v1", open: sdkV1, direct: sdkV1, through: (direct) => direct },
  { client: "SDK v2 in its legacy mode", open: LEGACY, direct: LEGACY, through: (direct) => direct },
  { client: "SDK v2 in its modern mode", open: MODERN, direct: LEGACY, through: asModern },
];

/** Modern reads have cache hints, and the modern client drops what it doesn't know of a tool. */
function asModern(direct: Got): Got {
  const hinted = (got: unknown) =>
    typeof got === "object" && got !== null && "contents" in got ? { ...got, ttlMs: 0, cacheScope: "private" } : got;
  const { tools, ...others } = direct;
  const listed = Array.isArray(tools) ? tools.map(({ execution: _tasks, ...tool }) => tool) : tools;
  return { tools: listed, ...Object.fromEntries(Object.entries(others).map(([name, got]) => [name, hinted(got)])) };
}

let server: ServerProcess;
let seen: Recorder;
const direct = new Map<Open, Promise<Got>>();
beforeAll(async () => {
  server = await everythingServer();
  seen = await tap(server.url);
});
afterAll(async () => {
  await Promise.all([endHosts(), seen.close(), server.stop()]);
});

/** What a client of that kind gets directly: asked for once. */
function directly(open: Open): Promise<Got> {
  const known = direct.get(open) ?? withDriver(open({ url: `${server.url}/mcp` }), everythingOf);
  direct.set(open, known);
  return known;
}

describe.each(HOSTS)("server-everything behind the gateway, host $host", ({ start }) => {
  let gateway: RunningGateway;
  let address: Address;
  beforeAll(async () => {
    gateway = await start({ record: { servers: [{ name: "everything", kind: "mcp", url: seen.url }] } });
    address = { url: `${gateway.base}/mcp` };
  });
  afterAll(() => gateway.stop());

  describe.each(CLIENTS)("$client", ({ open, direct, through }) => {
    test("G2 gets what it gets directly: lists, results, errors, progress, prompts, resources, completions", async () => {
      const expected = await directly(direct);
      expect(expected["tools"]).toHaveLength(13);
      expect(await withDriver(open(address), everythingOf)).toEqual(through(expected));
    });

    test("a tool that isn't there is a result that says so", async () => {
      const got = await withDriver(open(address), (driver) => driver.call("nope"));
      expect(got).toMatchObject({ isError: true, content: [{ type: "text", text: "Unknown tool: nope" }] });
    });

    test("N6 answers what the server asks, as it does directly, and is shown the tools for that", async () => {
      const asked = async (opening: Open, url: string) => {
        const answers = new Answers();
        const results = await withDriver(opening({ url }, answers), async (driver) => ({
          tools: (await driver.list("tools")).length,
          form: await driver.call("trigger-elicitation-request"),
          sampled: await driver.call("trigger-sampling-request", { prompt: "the capital of France", maxTokens: 5 }),
          roots: await driver.call("get-roots-list"),
        }));
        return { ...results, asked: [...new Set(answers.asked)].sort() };
      };
      const expected = await asked(direct, `${server.url}/mcp`);
      expect(expected.tools).toBeGreaterThan(13);
      expect(expected.asked).toHaveLength(3);
      expect(await asked(open, address.url)).toEqual(expected);
    });

    test("F30 cancels a call that runs: the server is told, under its own id", async () => {
      await withDriver(open(address), async (driver) => {
        const first = seen.received.length;
        const cancel = new AbortController();
        const call = driver.call(
          "trigger-long-running-operation",
          { duration: 10, steps: 100 },
          { onProgress: ({ progress }) => progress === 2 && cancel.abort(), signal: cancel.signal },
        );
        await expect(call).rejects.toThrow();
        const sent = () => messagesTo(seen.received.slice(first));
        const cancelled = () => sent().find(({ method }) => method === "notifications/cancelled");
        await until("the cancel arrives", 10_000, () => cancelled() !== undefined);
        const calls = sent().filter(({ method }) => method === "tools/call");
        expect(calls).toHaveLength(1);
        expect(cancelled()?.["params"]).toMatchObject({ requestId: calls[0]?.["id"] });
      });
    });
  });

  // The server tells the session that has asked it to begin, and no other: a modern listen has one of its own.
  test.each(CLIENTS.filter(({ open }) => open !== MODERN))("G2 $client is told that a resource changed", async ({ open }) => {
    await withDriver(open(address), async (driver) => {
      const updated = await driver.subscribe(DOCUMENT);
      await driver.call("toggle-subscriber-updates");
      await until("the change is told", 10_000, () => updated.length > 0);
      expect(updated[0]).toBe(DOCUMENT);
    });
  });
});
