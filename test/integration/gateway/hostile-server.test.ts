import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { messagesIn, post, raw, said } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type McpFixture, mcpFixture, text } from "../../fixtures/gateway/mcp-server.ts";
import { until } from "../../fixtures/until.ts";

const call = (name: string) => ({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {} } });
/** Objects inside one another: parsed without trouble, and too much for whoever writes them again. */
const deep = (levels: number) => '{"a":'.repeat(levels) + "1".repeat(20) + "}".repeat(levels);

type Reply = { readonly type?: string; readonly body: string };
/** What the hostile server answers to a method, given the request's id, in place of what is right. */
type Answers = Record<string, (id: number) => Reply>;

const json = (body: string): Reply => ({ body });
const events = (body: string): Reply => ({ type: "text/event-stream", body });

afterAll(endHosts);

describe.each(HOSTS)("G3 a server that answers wrongly, on the $host host", ({ start }) => {
  let gateway: RunningGateway;
  let good: McpFixture;
  let bad: McpFixture;
  let answers: Answers = {};
  beforeEach(async () => {
    answers = {};
    good = await mcpFixture({ name: "good", tools: [[{ name: "good_n" }, () => text("fine")]] });
    bad = await mcpFixture({
      name: "bad",
      tools: [[{ name: "bad_n" }, () => text("fine")]],
      intercept: (request, response, body) => {
        const message = body.length === 0 ? {} : JSON.parse(body.toString());
        const answer = answers[message.method ?? request.url];
        if (answer === undefined) return false;
        const { type = "application/json", body: answered } = answer(message.id);
        response.writeHead(200, { "content-type": type }).end(answered);
        return true;
      },
    });
  });
  afterEach(async () => {
    await gateway.stop();
    await Promise.all([good.close(), bad.close()]);
  });
  const started = async () => {
    const servers = [good, bad].map(({ url }, at) => ({ name: at === 0 ? "good" : "bad", kind: "mcp" as const, url }));
    gateway = await start({ record: { servers } });
  };
  const resultOf = async (name: string) => {
    const answer = await post(gateway, "/mcp", call(name));
    const [{ result }] = messagesIn(answer) as [{ result: { isError?: boolean; _meta?: Record<string, unknown> } }];
    return { status: answer.status, text: said(result), isError: result.isError, error: result._meta?.["agentenv.io/error"] };
  };
  const expectGoodToBeServed = async () => {
    expect(await resultOf("good_n")).toEqual({ status: 200, text: "fine", isError: undefined, error: undefined });
    expect((await raw(gateway, "/state")).status).toBe(200);
  };

  const ANSWERS: [string, (id: number) => Reply, string][] = [
    ["no JSON", () => json("{"), "its answer is no JSON"],
    ["another object", () => json('{"hello":1}'), "its answer is no JSON-RPC response"],
    ["an array", () => json("[1]"), "its answer is no JSON-RPC response"],
    ["a request", (id) => json(`{"jsonrpc":"2.0","id":${id},"method":"x"}`), "its answer is no JSON-RPC response"],
    ["another id", () => json('{"jsonrpc":"2.0","id":99999,"result":{}}'), "its answer is to another request"],
    ["neither result nor error", (id) => json(`{"jsonrpc":"2.0","id":${id}}`), "its answer has not exactly one of result and error"],
    ["both", (id) => json(`{"jsonrpc":"2.0","id":${id},"result":{},"error":{}}`), "its answer has not exactly one of result and error"],
    ["a result that is null", (id) => json(`{"jsonrpc":"2.0","id":${id},"result":null}`), "its result is no object"],
    ["an error that is a text", (id) => json(`{"jsonrpc":"2.0","id":${id},"error":"x"}`), "its error is none of JSON-RPC's"],
    [
      "a deep result",
      (id) => json(`{"jsonrpc":"2.0","id":${id},"result":${deep(20_000)}}`),
      "its answer is JSON that nests deeper than 128",
    ],
    ["an event that is no JSON", () => events("data: {no\n\n"), "an event of its answer is no JSON"],
    [
      "a result that is a text, as an event",
      (id) => events(`data: {"jsonrpc":"2.0","id":${id},"result":"x"}\n\n`),
      "its result is no object",
    ],
    [
      "a deep event",
      (id) => events(`data: {"jsonrpc":"2.0","id":${id},"result":${deep(20_000)}}\n\n`),
      "an event of its answer is JSON that nests deeper than 128",
    ],
  ];
  test("to a call is named in the result, and nobody else's call notices", async () => {
    await started();
    for (const [, answer, why] of ANSWERS) {
      answers = { "tools/call": answer };
      const error = { reason: "bad_answer", server: "bad", delivered: true };
      expect(await resultOf("bad_n")).toEqual({ status: 200, text: `bad: ${why}`, isError: true, error });
    }
    await expectGoodToBeServed();
  });

  test("an event id that can't be a header value ends nothing but its own call", async () => {
    await started();
    for (const id of ["\u2603", "\u0001a"]) {
      answers = { "tools/call": () => events(`id: ${id}\nretry: 1\ndata: \n\n`) };
      expect(await resultOf("bad_n")).toMatchObject({ status: 200, text: "bad: the stream ended before the reply; the call may have run" });
    }
    answers = {};
    await expectGoodToBeServed();
    expect((await resultOf("bad_n")).text).toBe("fine");
  });

  test("with a bad event before the reply is bad in one chunk or two, in one packet or two", async () => {
    const chunk = (data: string) => `${data.length.toString(16)}\r\n${data}\r\n`;
    const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let packets = (_events: string[]): string[] => [];
    await bad.close();
    bad = await mcpFixture({
      name: "bad",
      tools: [[{ name: "bad_n" }, () => text("fine")]],
      intercept: ({ socket }, _response, body) => {
        if (!body.includes('"tools/call"')) return false;
        const { id } = JSON.parse(body.toString());
        const [first = "", second = ""] = packets(["data: {bad\n\n", `data: {"jsonrpc":"2.0","id":${id},"result":{"content":[]}}\n\n`]);
        socket.write(head + first, () => socket.end(`${second}0\r\n\r\n`));
        return true;
      },
    });
    await started();
    for (packets of [
      (events: string[]) => [chunk(events.join(""))],
      (events: string[]) => [events.map(chunk).join("")],
      (events: string[]) => events.map(chunk),
    ])
      expect(await resultOf("bad_n")).toMatchObject({ text: "bad: an event of its answer is no JSON", error: { reason: "bad_answer" } });
  });

  const LISTS: [string, (id: number) => Reply, string][] = [
    [
      "that nests too deep",
      (id) => json(`{"jsonrpc":"2.0","id":${id},"result":{"tools":[{"name":"d","inputSchema":{"type":"object","x":${deep(20_000)}}}]}}`),
      "tools/list: its answer is JSON that nests deeper than 128",
    ],
    ["that is none", (id) => json(`{"jsonrpc":"2.0","id":${id},"result":{"tools":{}}}`), "tools/list: its result has no list of tools"],
    [
      "that is an error with an odd code",
      (id) => json(`{"jsonrpc":"2.0","id":${id},"error":{"code":{"toString":1},"message":"x"}}`),
      "tools/list: its error is none of JSON-RPC's",
    ],
  ];
  test.each(LISTS)("a list %s costs its server's tools only, and /state says so", async (_name, answer, warning) => {
    answers = { "tools/list": answer };
    await started();
    const { result } = messagesIn(await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" }))[0] as {
      result: { tools: { name: string }[] };
    };
    expect(result.tools.map(({ name }) => name)).toEqual(["good_n"]);
    expect((await resultOf("nope")).text).toBe("Unknown tool: nope");
    const { servers } = (await raw(gateway, "/state")).json() as { servers: { name: string; warnings?: string[] }[] };
    expect(servers.map(({ name, warnings }) => [name, warnings])).toEqual([
      ["good", undefined],
      ["bad", [warning]],
    ]);
    await expectGoodToBeServed();
  });

  test("a list that becomes too deep leaves the last good one", async () => {
    let notify = (): void => undefined;
    let reads = 0;
    await bad.close();
    bad = await mcpFixture({
      name: "bad",
      tools: [[{ name: "bad_n" }, () => text("fine")]],
      intercept: (request, response, body) => {
        if (request.method === "GET" && request.url === "/mcp") {
          response.writeHead(200, { "content-type": "text/event-stream" }).write(": open\n\n");
          notify = () => void response.write('data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n');
          return true;
        }
        if (!body.includes('"tools/list"') || reads++ === 0) return false;
        const { id } = JSON.parse(body.toString());
        const list = `{"tools":[{"name":"d","inputSchema":{"type":"object","x":${deep(20_000)}}}]}`;
        response.writeHead(200, { "content-type": "application/json" }).end(`{"jsonrpc":"2.0","id":${id},"result":${list}}`);
        return true;
      },
    });
    await started();
    await until("the gateway listens to the server", 5_000, () => bad.received.some(({ method }) => method === "GET"));
    notify();
    await until("the list is read again", 5_000, () => reads > 1);
    expect((await resultOf("bad_n")).text).toBe("fine");
    await expectGoodToBeServed();
  });

  test("a card that nests too deep is no card, and its server is served", async () => {
    answers = { "/.well-known/agent-env.json": () => json(`{"name":"bad","capabilities":{"tools":[]},"x":${deep(20_000)}}`) };
    await started();
    const card = (await raw(gateway, "/.well-known/agent-env.json")).json() as { children_environments: unknown[] };
    expect(card.children_environments).toEqual([]);
    expect((await resultOf("bad_n")).text).toBe("fine");
    await expectGoodToBeServed();
  });
});
