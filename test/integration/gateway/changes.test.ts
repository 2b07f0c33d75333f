import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openedSession, post, raw } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type McpFixture, mcpFixture, text } from "../../fixtures/gateway/mcp-server.ts";
import { type Recorder, recorder } from "../../fixtures/gateway/recorder.ts";
import { type Database, noPostgres, startPostgres } from "../../fixtures/postgres.ts";
import { until } from "../../fixtures/until.ts";

afterAll(endHosts);

describe.each(HOSTS)("G1 /changes without a database on the $host host", ({ start }) => {
  test("V58 bad numbers are 400, and there is no changelog", async () => {
    const gateway = await start({ record: { name: "demo", servers: [] } });
    const told = async (query: string) => {
      const answer = await raw(gateway, `/changes${query}`);
      return [answer.status, answer.json()];
    };
    const range = { ok: false, error: "after_id must be >= 0 and limit between 1 and 10000" };
    expect(await told("?limit=0")).toEqual([400, range]);
    expect(await told("?limit=10001")).toEqual([400, range]);
    expect(await told("?after_id=-1")).toEqual([400, range]);
    expect(await told("?limit=x")).toEqual([400, { ok: false, error: "after_id and limit must be integers" }]);
    expect(await told("")).toEqual([404, { ok: false, error: "this env keeps no changelog" }]);
    await gateway.stop();
  });
});

type Change = { id: number; summary: string; actors: Record<string, unknown>[] };

/** The Node host alone: Workers reach no Postgres. */
describe.skipIf(noPostgres !== null)(`G1 G8 /changes with a database${noPostgres === null ? "" : ` (${noPostgres})`}`, () => {
  let database: Database;
  let items: McpFixture;
  let shop: Recorder;
  let gateway: RunningGateway;
  let isRead: (() => void) | null = null;

  const write = (summary: string) => database.sql`
    INSERT INTO public._changelog (timestamp, schema_name, table_name, operation, row_id, summary, changed_fields)
    VALUES ('2026-03-01T09:00:01Z', 'items', 'items', 'INSERT', '7', ${summary}, '{"name": "tea"}')`;

  beforeAll(async () => {
    database = await startPostgres();
    items = await mcpFixture({
      name: "items",
      tools: [
        [{ name: "items_write" }, ({ args }) => write(String(args["summary"])).then(() => text("written"))],
        [{ name: "items_read" }, () => text("read")],
        [
          { name: "items_slow" },
          async () => {
            await new Promise<void>((resolve) => {
              isRead = resolve;
            });
            return text("slow");
          },
        ],
      ],
    });
    shop = await recorder({
      answer: async (_request, response) => {
        await write("by a request");
        response.writeHead(200, { "content-type": "text/plain" }).end("done");
      },
    });
    const [node] = HOSTS;
    if (node === undefined) throw new Error("no host");
    gateway = await node.start({
      record: {
        name: "demo",
        service_db_url: database.url,
        servers: [
          { name: "items", kind: "mcp", url: items.url },
          { name: "shop", kind: "website", url: shop.url, frontend_url: shop.url },
        ],
      },
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await Promise.all([items.close(), shop.close()]);
    await database.stop();
  });
  const step = (tool_name: string, args: object = {}, role = "default") =>
    post(gateway, "/step", { action: "call_tool", tool_name, arguments: args }, { "AgentEnv-Role": role });
  const changes = async (query = "") => (await raw(gateway, `/changes${query}`)).json() as { changes: Change[]; has_more: boolean };
  const lastId = async () => ((await raw(gateway, "/state")).json() as { changelog_id: number }).changelog_id;

  test("before any data was loaded there is no change", async () => {
    expect(await changes()).toEqual({ changes: [], has_more: false });
    expect(await lastId()).toBe(0);
    await database.sql`
      CREATE TABLE public._changelog (id bigserial PRIMARY KEY, timestamp timestamptz, schema_name text, table_name text,
        operation text, row_id text, summary text, changed_fields jsonb)`;
    expect(await changes()).toEqual({ changes: [], has_more: false });
  });

  test("a row is told with the call that made it, and what the call says of the changelog", async () => {
    const answer = await step("items_write", { summary: "one" }, "alice");
    const id = await lastId();
    expect(answer.json()).toEqual({ content: [{ type: "text", text: "written" }], isError: false, changelog_id: id });
    expect(await changes(`?after_id=${id - 1}`)).toEqual({
      changes: [
        {
          id,
          timestamp: "2026-03-01T09:00:01+00:00",
          schema_name: "items",
          table_name: "items",
          operation: "INSERT",
          row_id: "7",
          summary: "one",
          changed_fields: { name: "tea" },
          actors: [{ kind: "tool_call", event_id: expect.stringMatching(/^event_\d+$/), tool: "items_write", role: "alice" }],
        },
      ],
      has_more: false,
    });
    const last = (await raw(gateway, "/trajectory")).text.trim().split("\n").at(-1) ?? "";
    expect(JSON.parse(last)).toMatchObject({ event_type: "tool_call_result", changelog_id_before: id - 1, changelog_id: id });
  });

  test("a row that came about otherwise has no actor, and a call that wrote nothing is none", async () => {
    const id = await lastId();
    await step("items_read");
    await write("from outside");
    const [change] = (await changes(`?after_id=${id}`)).changes;
    expect([change?.summary, change?.actors]).toEqual(["from outside", []]);
  });

  test("V56 a POST that writes is one http_request event and the row's actor; a GET is none", async () => {
    const id = await lastId();
    const n = (await raw(gateway, "/trajectory")).text.trim().split("\n").length;
    await raw(gateway, "/website/shop/order?x=1", { method: "POST", body: "a=1", headers: { "AgentEnv-Role": "carol" } });
    await raw(gateway, "/svc/shop/order", { method: "DELETE" });
    await raw(gateway, "/website/shop/order");
    const events = (await raw(gateway, `/trajectory?after=${n}`)).text.trim().split("\n");
    const shown = events.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(shown.map(({ timestamp_utc, ...event }) => event)).toEqual([
      {
        event_type: "http_request",
        route: "website",
        service: "shop",
        method: "POST",
        path: "/order",
        status: 200,
        role: "carol",
        changelog_id_before: id,
        changelog_id_after: id + 1,
        event_id: `event_${n + 1}`,
      },
      {
        event_type: "http_request",
        route: "svc",
        service: "shop",
        method: "DELETE",
        path: "/order",
        status: 200,
        role: "default",
        changelog_id_before: id + 1,
        changelog_id_after: id + 2,
        event_id: `event_${n + 2}`,
      },
    ]);
    const made = (await changes(`?after_id=${id}`)).changes.map(({ actors }) => actors);
    const request = { route: "website", service: "shop", method: "POST", path: "/order", status: 200 };
    expect(made).toEqual([
      [{ kind: "request", event_id: `event_${n + 1}`, request, role: "carol" }],
      [{ kind: "request", event_id: `event_${n + 2}`, request: { ...request, route: "svc", method: "DELETE" }, role: "default" }],
      [],
    ]);
  });

  test("V57 two overlapping calls are both actors of a row, in finishing order", async () => {
    const id = await lastId();
    const session = await openedSession(gateway);
    const slow = post(
      gateway,
      "/mcp",
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "items_slow", arguments: {} } },
      session,
    );
    await until("the slow call has begun", 5_000, () => isRead !== null);
    await step("items_write", { summary: "both" });
    isRead?.();
    await slow;
    const [change] = (await changes(`?after_id=${id}`)).changes;
    expect(change?.actors.map(({ tool }) => tool)).toEqual(["items_write", "items_slow"]);
  });

  test("are read a page at a time", async () => {
    const all = (await changes()).changes.map(({ id }) => id);
    const first = await changes("?limit=2");
    expect([first.changes.map(({ id }) => id), first.has_more]).toEqual([all.slice(0, 2), true]);
    const rest = await changes(`?after_id=${all[1]}&limit=${all.length - 2}`);
    expect([rest.changes.map(({ id }) => id), rest.has_more]).toEqual([all.slice(2), false]);
  });

  test("V50 who made what is known after a kill", async () => {
    const before = await changes();
    await gateway.restart();
    expect(await changes()).toEqual(before);
  });

  test("a database that can't be read costs no call; /changes is 503", async () => {
    await database.sql`ALTER TABLE public._changelog RENAME COLUMN id TO was_id`;
    expect((await step("items_read")).json()).toMatchObject({ changelog_id: null, isError: false });
    const answer = await raw(gateway, "/changes");
    await database.sql`ALTER TABLE public._changelog RENAME COLUMN was_id TO id`;
    expect([answer.status, answer.json()]).toEqual([503, { ok: false, error: "the changelog can't be read" }]);
  });
});
