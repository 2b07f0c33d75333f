import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { post, raw } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type Recorder, recorder } from "../../fixtures/gateway/recorder.ts";

afterAll(endHosts);

type Rpc = { jsonrpc: string; id: unknown; method: string; params?: Record<string, unknown> };
const ENVIRONMENT = "urn:agentenv:environment/v1";
const partOf = (text: string, label?: unknown) => ({
  kind: "text",
  text,
  ...(label === undefined ? {} : { metadata: { [ENVIRONMENT]: label } }),
});

/** A website's backend with a data plane that answers as `answer` says. Its card may name other operations. */
async function plane(name: string, capabilities: object, answer: (call: Rpc) => object): Promise<Recorder> {
  return await recorder({
    card: () => ({ status: 200, body: { name, url: "/agentenv", capabilities } }),
    answer: (_request, response, body) => {
      const call = JSON.parse(body.toString());
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id: call.id ?? null, ...answer(call) }));
    },
  });
}

describe.each(HOSTS)("G1 the data plane on the $host host", ({ start }) => {
  let shop: Recorder;
  let notes: Recorder;
  let quiet: Recorder;
  let cardless: Recorder;
  let gateway: RunningGateway;
  let alone: RunningGateway;
  let isShopBroken = false;

  beforeAll(async () => {
    shop = await plane("shop", { operations: null, extensions: [{ uri: "urn:agentenv:data-objects/v1" }] }, ({ method }) => {
      if (isShopBroken) return { error: { code: -32000, message: "no disk", data: { code: "reset_failed" } } };
      return { result: method === "data/get" ? { parts: [partOf("order 1"), { ...partOf("order 2"), metadata: { x: 1 } }] } : {} };
    });
    notes = await plane("notes", {}, ({ method }) => ({ result: method === "data/get" ? { parts: [partOf("note")] } : {} }));
    quiet = await plane("quiet", { operations: [] }, () => ({ result: {} }));
    cardless = await recorder();
    const site = (name: string, { url }: Recorder) => ({ name, kind: "website", url, frontend_url: url }) as const;
    const servers = [
      site("shop", shop),
      site("notes", notes),
      site("quiet", quiet),
      site("bare", cardless),
      site("website-browser", notes),
    ];
    gateway = await start({ record: { name: "demo", servers } });
    alone = await start({ record: { name: "demo", servers: [site("shop", shop), site("bare", cardless)] } });
  });
  afterAll(async () => {
    await Promise.all([gateway.stop(), alone.stop()]);
    await Promise.all([shop, notes, quiet, cardless].map((each) => each.close()));
  });
  const ask = async (method: string, params?: unknown, role = "default") => {
    for (const each of [shop, notes, quiet, cardless]) each.received.length = 0;
    const answer = await post(gateway, "/agentenv", { jsonrpc: "2.0", id: 7, method, params }, { "AgentEnv-Role": role });
    expect(answer.status).toBe(200);
    const { jsonrpc, id, ...rest } = answer.json() as Record<string, unknown>;
    expect([jsonrpc, id]).toEqual(["2.0", 7]);
    return rest;
  };
  const sent = ({ received }: Recorder) => received.map(({ body }) => JSON.parse(body.toString()) as Rpc);
  const choices = 'one of "shop", "notes"';

  test("V46 data/get: the parts of all targets in card order, each with its environment", async () => {
    const label = (name: string) => ({ [ENVIRONMENT]: { name, key: name } });
    expect(await ask("data/get", {})).toEqual({
      result: {
        parts: [
          { kind: "text", text: "order 1", metadata: label("shop") },
          { kind: "text", text: "order 2", metadata: { x: 1, ...label("shop") } },
          { kind: "text", text: "note", metadata: label("notes") },
        ],
      },
    });
    expect([sent(quiet), sent(cardless)]).toEqual([[], []]);
  });

  test("a grant goes to those that list that they can use one", async () => {
    await ask("data/get", { write_namespace: { root_path: "x" } });
    expect([sent(shop)[0]?.params, sent(notes)[0]?.params]).toEqual([{ write_namespace: { root_path: "x" } }, {}]);
  });

  test("V46 data/add without a target is refused with the targets, and nothing is sent", async () => {
    const detail = `parts.1: its metadata must name ${choices}, or environment_name must`;
    const parts = [partOf("a", { name: "shop", key: "shop" }), partOf("b")];
    expect(await ask("data/add", { parts })).toEqual({ error: { code: -32602, message: "invalid_request", data: { detail } } });
    expect([sent(shop), sent(notes)]).toEqual([[], []]);
    const empty = { code: -32602, message: "invalid_request", data: { detail: "parts: a list with at least one part is needed" } };
    expect(await ask("data/add", { parts: [] })).toEqual({ error: empty });
  });

  test("data/add takes each part to its environment, as it was before it was labelled", async () => {
    const parts = [partOf("a", { name: "shop", key: "shop" }), partOf("b", { name: "notes" }), { ...partOf("c", { key: "shop" }) }];
    expect(await ask("data/add", { parts }, "loader")).toEqual({ result: {} });
    expect(sent(shop).map(({ params }) => params)).toEqual([{ parts: [partOf("a"), partOf("c")] }]);
    expect(sent(notes).map(({ params }) => params)).toEqual([{ parts: [partOf("b")] }]);
    expect(shop.received[0]?.headers).toContainEqual(["agentenv-role", "loader"]);
  });

  test("V46 with environment_name that target alone, without that param", async () => {
    expect(await ask("data/add", { environment_name: "notes", parts: [partOf("a")] })).toEqual({ result: {} });
    expect([sent(shop), sent(notes).map(({ params }) => params)]).toEqual([[], [{ parts: [partOf("a")] }]]);
    const detail = 'environment_name: "nope" is none of "shop", "notes"';
    expect(await ask("data/reset", { environment_name: "nope" })).toEqual({
      error: { code: -32602, message: "invalid_request", data: { detail } },
    });
  });

  test("data/reset succeeds if all do, else names those that failed", async () => {
    expect(await ask("data/reset")).toEqual({ result: {} });
    expect([sent(shop)[0]?.method, sent(notes)[0]?.method]).toEqual(["data/reset", "data/reset"]);
    isShopBroken = true;
    const failed = await ask("data/reset");
    isShopBroken = false;
    expect(failed).toEqual({ error: { code: -32000, message: "data/reset failed at shop (no disk)" } });
  });

  test("V46 one target: the body is posted unchanged, with the caller's role and the universe's time; the answer comes back", async () => {
    await raw(alone, "/clock/set-time", {
      method: "PUT",
      body: '{"virtual_time":"2030-01-02T03:04:05Z","virtual_seconds_per_real_second":0}',
    });
    shop.received.length = 0;
    const body = '{"id": 3, "x":1,\n"method":"data/get","params":{"environment_name":"shop"}}';
    const answer = await post(alone, "/agentenv", body, { "AgentEnv-Role": "bob" });
    expect(answer.json()).toMatchObject({ id: 3, result: { parts: [{ text: "order 1" }, { text: "order 2" }] } });
    expect(shop.received[0]?.body.toString()).toBe(body);
    expect(shop.received[0]?.headers).toContainEqual(["agentenv-role", "bob"]);
    expect(shop.received[0]?.headers).toContainEqual(["x-universe-now", "2030-01-02T03:04:05Z"]);
  });

  test("no target: -32000, saying so", async () => {
    const none = await start({
      record: { name: "demo", servers: [{ name: "bare", kind: "website", url: cardless.url, frontend_url: cardless.url }] },
    });
    const answer = await post(none, "/agentenv", { jsonrpc: "2.0", id: 1, method: "data/get" });
    await none.stop();
    const message = "data/get: no server of this environment serves a data plane";
    expect(answer.json()).toEqual({ jsonrpc: "2.0", id: 1, error: { code: -32000, message } });
  });

  test("a target that is away: -32000, naming it", async () => {
    const gone = await plane("gone", {}, () => ({}));
    const own = await start({
      record: { name: "demo", servers: [{ name: "gone", kind: "website", url: gone.url, frontend_url: gone.url }] },
    });
    await raw(own, "/.well-known/agent-env.json");
    await gone.close();
    const answer = await post(own, "/agentenv", { jsonrpc: "2.0", id: 1, method: "data/get" });
    await own.stop();
    expect(answer.json()).toEqual({
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32000, message: "data/get failed at gone (connection refused)" },
    });
  });

  test("what is no request of the data plane is answered as HTTP 200 with an error", async () => {
    const cases: [unknown, unknown, number, string][] = [
      ["{", null, -32700, "Parse error"],
      ["", null, -32700, "Parse error"],
      [[{ jsonrpc: "2.0", id: 1, method: "data/get" }], null, -32600, "Invalid request"],
      [{ jsonrpc: "2.0", id: 1, method: "data/nope" }, 1, -32601, "Method not found: data/nope"],
    ];
    for (const [body, id, code, message] of cases) {
      const answer = await post(gateway, "/agentenv", body);
      expect([answer.status, answer.json()]).toEqual([200, { jsonrpc: "2.0", id, error: { code, message } }]);
    }
    expect((await raw(gateway, "/agentenv")).status).toBe(405);
  });
});
