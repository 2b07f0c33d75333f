import http from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  messagesIn,
  modernBody,
  modernHeaders,
  openedSession,
  post,
  postModern,
  raw,
  said,
  streamFrom,
} from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type Handler, type McpFixture, mcpFixture, text } from "../../fixtures/gateway/mcp-server.ts";
import { until } from "../../fixtures/until.ts";

const progress = (meta: Record<string, unknown>, value: number) => ({
  jsonrpc: "2.0",
  method: "notifications/progress",
  params: { progressToken: meta["progressToken"], progress: value },
});
const line = (level: string) => ({ jsonrpc: "2.0", method: "notifications/message", params: { level, data: level } });
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Goes on until its caller leaves. */
const forever: Handler = ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(text("gone"))));

afterAll(endHosts);

describe.each(HOSTS)("calls on the $host host", ({ start }) => {
  let items: McpFixture;
  let gateway: RunningGateway;
  /** The same, with a short time limit. */
  let hasty: RunningGateway;
  beforeAll(async () => {
    items = await mcpFixture({
      name: "items",
      capabilities: { tools: {}, logging: {} },
      more: { "logging/setLevel": () => ({}) },
      tools: [
        [{ name: "items_say" }, ({ args }) => text(args["n"] ?? "said")],
        [{ name: "items_big" }, () => text("x".repeat(8_000_000))],
        [{ name: "items_forever" }, forever],
        [{ name: "items_hidden", _meta: { "agentenv.io/hiddenByDefault": true } }, () => text("secret")],
        [
          { name: "items_busy" },
          async ({ meta, say }) => {
            for (const value of [1, 2, 2, 1, 3]) {
              say(progress(meta, value));
              await pause(400);
            }
            return text("done");
          },
        ],
        [
          { name: "items_log" },
          ({ say }) => {
            for (const level of ["debug", "warning", "error"]) say(line(level));
            return text("logged");
          },
        ],
      ],
    });
    const record = { servers: [{ name: "items", kind: "mcp" as const, url: items.url }] };
    gateway = await start({ record });
    hasty = await start({ record, settings: { GATEWAY_TOOL_CALL_TIMEOUT_S: "1" } });
  });
  afterAll(async () => {
    await gateway.stop();
    await hasty.stop();
    await items.close();
  });
  const message = (name: string, params: object = {}, id: unknown = 1) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name, ...params },
  });
  const texts = (answer: Parameters<typeof messagesIn>[0]) => said((messagesIn(answer).at(-1) as { result: unknown }).result);

  test("F36 F34 a call that reports progress outlives the time limit; progress only rises, under the caller's token", async () => {
    const answer = await post(hasty, "/mcp", message("items_busy", { _meta: { progressToken: "mine" } }));
    const shown = messagesIn(answer).map(({ params, result }) => (result === undefined ? params : said(result)));
    expect(shown).toEqual([1, 2, 3].map((value): unknown => ({ progressToken: "mine", progress: value })).concat("done"));
  });

  test("F36 a call that is silent for longer is answered with an error that names the server, as a stream's or as JSON", async () => {
    const answer = await post(hasty, "/mcp", message("items_forever"));
    expect(messagesIn(answer)).toMatchObject([
      {
        result: {
          isError: true,
          content: [{ text: "items: no answer within 1s" }],
          _meta: { "agentenv.io/error": { reason: "timeout", server: "items", delivered: true } },
        },
      },
    ]);
  });

  test("two callers may use one progress token", async () => {
    const sessions = [await openedSession(gateway), await openedSession(gateway)];
    const answers = await Promise.all(
      sessions.map((session) => post(gateway, "/mcp", message("items_busy", { _meta: { progressToken: 7 } }), session)),
    );
    for (const answer of answers) expect(messagesIn(answer).filter(({ method }) => method === "notifications/progress").length).toBe(3);
  });

  test("F37 a modern request gets log lines only of the level that it asks for, a legacy one of its session's", async () => {
    const levels = (answer: Parameters<typeof messagesIn>[0]) =>
      messagesIn(answer).flatMap(({ params }) => (params === undefined ? [] : [(params as { level: string }).level]));
    const call = (meta: object) => postModern(gateway, { method: "tools/call", params: { name: "items_log", arguments: {}, _meta: meta } });
    expect(levels(await call({}))).toEqual([]);
    expect(levels(await call({ "io.modelcontextprotocol/logLevel": "warning" }))).toEqual(["warning", "error"]);
    const session = await openedSession(gateway);
    expect(levels(await post(gateway, "/mcp", message("items_log"), session))).toEqual(["debug", "warning", "error"]);
    const level = { jsonrpc: "2.0", id: 2, method: "logging/setLevel", params: { level: "error" } };
    expect(messagesIn(await post(gateway, "/mcp", level, session))).toMatchObject([{ result: {} }]);
    expect(levels(await post(gateway, "/mcp", message("items_log"), session))).toEqual(["error"]);
    const asked = items.received
      .filter(({ body }) => body.toString().includes("logging/setLevel"))
      .map(({ body }) => JSON.parse(body.toString()));
    expect(asked.map(({ params }) => params.level)).toContain("error");
  });

  test("F31 a cancel never hits another caller's call with the same id", async () => {
    const [mine, others] = [await openedSession(gateway), await openedSession(gateway)];
    const slow = post(gateway, "/mcp", message("items_busy", {}, 9), others);
    const stream = streamFrom(gateway, { method: "POST", headers: mine, body: JSON.stringify(message("items_forever", {}, 9)) });
    await until(
      "both are under way",
      10_000,
      () => items.received.filter(({ body }) => /items_(busy|forever)/.test(body.toString())).length >= 2,
    );
    await post(gateway, "/mcp", { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 9 } }, mine);
    await stream.ended;
    expect(stream.messages).toEqual([]);
    expect(texts(await slow)).toBe("done");
  });

  test("F31 an id that two live calls share cancels neither", async () => {
    const session = await openedSession(gateway);
    const calls = [1, 2].map(() => post(gateway, "/mcp", message("items_busy", {}, 3), session));
    await until("both are under way", 10_000, () => items.calls > 0);
    await post(gateway, "/mcp", { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 3 } }, session);
    expect((await Promise.all(calls)).map(texts)).toEqual(["done", "done"]);
  });

  test("F48 a tool that a role may not use is neither listed nor called, in both eras, by either name", async () => {
    const refused = {
      isError: true,
      content: [{ type: "text", text: expect.stringMatching(/^Tool 'items(__items)?_hidden' is disabled for role 'alice'$/) }],
    };
    const role = { "AgentEnv-Role": "alice" };
    for (const name of ["items_hidden", "items__items_hidden"]) {
      expect(messagesIn(await post(gateway, "/mcp", message(name), role))).toMatchObject([{ result: refused }]);
      expect((await postModern(gateway, { method: "tools/call", params: { name } }, role)).json()).toMatchObject({ result: refused });
    }
    const lists = [
      messagesIn(await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" }, role))[0],
      (await postModern(gateway, { method: "tools/list" }, role)).json(),
    ];
    for (const list of lists) expect(JSON.stringify(list)).not.toContain("items_hidden");
  });

  test("F50 nothing of the caller's credentials reaches a server, what traces does", async () => {
    const secret = { authorization: "Bearer secret-1", cookie: "a=secret-2", "x-forwarded-for": "secret-3", traceparent: "00-1-2-03" };
    await post(gateway, "/mcp", message("items_say"), secret);
    const sent = items.received.at(-1)?.headers ?? [];
    expect([JSON.stringify(sent).includes("secret"), sent.find(([name]) => name === "traceparent")?.[1]]).toEqual([false, "00-1-2-03"]);
  });

  test("F16 the thousandth call on one connection works like the first", async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const session = await openedSession(gateway);
    const headers = { ...session, "content-type": "application/json", accept: "application/json, text/event-stream" };
    const call = (n: number) =>
      new Promise<string>((resolve, reject) => {
        const sent = http.request({ host: "127.0.0.1", port: gateway.port, path: `${gateway.prefix}/mcp`, method: "POST", headers, agent });
        sent.on("response", (response) => {
          let body = "";
          response.on("data", (chunk) => (body += chunk));
          response.on("end", () => resolve(body));
        });
        sent.on("error", reject);
        sent.end(JSON.stringify(message("items_say", { arguments: { n: String(n) } }, n)));
      });
    for (let n = 1; n <= 1_000; n++)
      expect(JSON.parse(await call(n))).toEqual({ jsonrpc: "2.0", id: n, result: { content: [{ type: "text", text: String(n) }] } });
    agent.destroy();
  }, 180_000);

  test("F44 an 8 MB result arrives whole, a 20 KiB argument in no header", async () => {
    const answer = await post(gateway, "/mcp", message("items_big"));
    expect(texts(answer).length).toBe(8_000_000);
    await post(gateway, "/mcp", message("items_say", { arguments: { n: "y".repeat(20_480) } }));
    const received = items.received.at(-1);
    expect([JSON.stringify(received?.headers).includes("yyyy"), received?.body.toString().includes("y".repeat(20_480))]).toEqual([
      false,
      true,
    ]);
  });

  test("a modern client that leaves cancels its call at a legacy server, a legacy one cancels nothing", async () => {
    const cancels = () => items.received.filter(({ body }) => body.toString().includes("notifications/cancelled")).length;
    const before = cancels();
    const legacy = streamFrom(gateway, { method: "POST", body: JSON.stringify(message("items_busy")) });
    const modern = { method: "tools/call", params: { name: "items_forever", arguments: {} } };
    const stream = streamFrom(gateway, { method: "POST", headers: modernHeaders(modern), body: JSON.stringify(modernBody(modern)) });
    await until("the streams are open", 10_000, () => stream.text() !== "" && legacy.text() !== "");
    legacy.close();
    stream.close();
    await until("the call is cancelled", 6_000, () => cancels() > before);
    expect(cancels()).toBe(before + 1);
  });

  test("F52 F49 calls to a stopped server wait for one wake-up; errors show neither address nor session", async () => {
    const own = await mcpFixture({ name: "own", tools: [[{ name: "own_say" }, () => text("said")]] });
    const waiting = await start({
      record: { servers: [{ name: "own", kind: "mcp", url: own.url }] },
      settings: { GATEWAY_UPSTREAM_WAIT_S: "5" },
    });
    const call = () => post(waiting, "/mcp", message("own_say"));
    const { port } = own;
    expect(texts(await call())).toBe("said");
    await own.close();
    const calls = Array.from({ length: 100 }, call);
    await until("the server is known to be down", 10_000, async () => (await raw(waiting, "/health")).text.includes("degraded"));
    const back = await mcpFixture({ name: "own", port, tools: [[{ name: "own_say" }, () => text("back")]] });
    try {
      expect(new Set((await Promise.all(calls)).map(texts))).toEqual(new Set(["back"]));
      expect(back.received.filter(({ body }) => body.toString().includes("server/discover")).length).toBe(1);
      expect(back.calls).toBe(100);
      await back.close();
      const answer = await call();
      expect(texts(answer)).toMatch(/^own: .*the call was not sent$/);
      expect(answer.text).not.toMatch(new RegExp(`127\\.0\\.0\\.1|${port}|s\\d+-own|at .*\\.ts`));
    } finally {
      await waiting.stop();
      await back.close();
    }
  });

  test("F1 F4 F6 a lost session whose server takes no new one is an error, and its id isn't used again", async () => {
    let isSick = false;
    const sick = await mcpFixture({
      name: "sick",
      tools: [[{ name: "sick_say" }, () => text("said")]],
      intercept: (_request, response, body) => {
        if (!isSick || !/"(initialize|server\/discover)"/.test(body.toString())) return false;
        response.writeHead(500, { "content-type": "text/plain" }).end("everything is fine: success");
        return true;
      },
    });
    const healed = await start({ record: { servers: [{ name: "sick", kind: "mcp", url: sick.url }] } });
    try {
      expect(texts(await post(healed, "/mcp", message("sick_say")))).toBe("said");
      sick.forgetSessions();
      isSick = true;
      const failed = messagesIn(await post(healed, "/mcp", message("sick_say")));
      expect(failed).toMatchObject([{ result: { isError: true, _meta: { "agentenv.io/error": { server: "sick", delivered: false } } } }]);
      isSick = false;
      const idsIn = (received: typeof sick.received) =>
        new Set(received.flatMap(({ headers }) => headers.filter(([name]) => name === "mcp-session-id").map(([, id]) => id)));
      const from = sick.received.length;
      expect(texts(await post(healed, "/mcp", message("sick_say")))).toBe("said");
      const failedIds = idsIn(sick.received.slice(0, from));
      const laterIds = idsIn(sick.received.slice(from));
      expect([failedIds.size, laterIds.size > 0, [...laterIds].filter((id) => failedIds.has(id))]).toEqual([2, true, []]);
    } finally {
      await healed.stop();
      await sick.close();
    }
  });

  test("F33 no progress comes after the result", async () => {
    const late = await mcpFixture({
      name: "late",
      tools: [[{ name: "late_say" }, () => text("")]],
      intercept: (_request, response, body) => {
        if (!body.toString().includes("tools/call")) return false;
        const { id, params } = JSON.parse(body.toString());
        const said = [progress(params._meta, 1), { jsonrpc: "2.0", id, result: text("said") }, progress(params._meta, 2)];
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(said.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(""));
        return true;
      },
    });
    const behind = await start({ record: { servers: [{ name: "late", kind: "mcp", url: late.url }] } });
    try {
      const answer = await post(behind, "/mcp", message("late_say", { _meta: { progressToken: 1 } }));
      expect(messagesIn(answer).map(({ method, id }) => method ?? id)).toEqual(["notifications/progress", 1]);
    } finally {
      await behind.stop();
      await late.close();
    }
  });

  test("F10 an id that is no session's is 404, whatever it looks like", async () => {
    for (const id of ["x", "1.", "1.AAAA", "2.abc", "1.***", "a".repeat(600), '{"a":1}']) {
      const answer = await post(gateway, "/mcp", message("items_say"), { "mcp-session-id": id });
      expect([id, answer.status, answer.json()]).toMatchObject([id, 404, { error: { code: -32001 } }]);
    }
    expect((await raw(gateway, "/health")).status).toBe(200);
  });
});
