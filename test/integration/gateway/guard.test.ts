import type { ServerResponse } from "node:http";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { JSON_HEADERS, messagesIn, raw } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type McpFixture, mcpFixture, text } from "../../fixtures/gateway/mcp-server.ts";

const FORGED = {
  jsonrpc: "2.0",
  id: 3,
  method: "tools/call",
  params: { name: "who", arguments: { n: 1 }, _meta: { "agentenv.io/role": "admin", "agentenv.io/session": "x", progressToken: 7 } },
};
const STAMPED = { ...FORGED, params: { ...FORGED.params, _meta: { progressToken: 7, "agentenv.io/role": "default" } } };

/** Answers that are none to a batch. */
function answerOddly(how: string, accepts: string | undefined, response: ServerResponse): true {
  const head = (type: string, more: Record<string, string> = {}) => response.writeHead(200, { "content-type": type, ...more });
  if (how === "html") head("text/html").end("<h1>");
  else if (how === "deep") head("application/json").end("[".repeat(20_000) + "]".repeat(20_000));
  else if (how === "numbers") head("application/json").end("[1]");
  else if (how === "nothing") head("application/json").end();
  else if (how === "large") head("application/json").end(`["${"x".repeat(300_000)}"]`);
  else if (how === "cut") head("application/json", { "content-length": "9" }).write("[", () => response.destroy());
  else if (how === "events") head("text/event-stream").end('data: {"jsonrpc":"2.0","id":3,"result":{}}\n\n');
  else head("application/json").end(JSON.stringify([{ jsonrpc: "2.0", id: 3, result: { accepts } }]));
  return true;
}

afterAll(endHosts);

describe.each(HOSTS)("the MCP guard of /svc on the $host host", ({ start }) => {
  let gateway: RunningGateway;
  let items: McpFixture;
  let shop: McpFixture;
  beforeAll(async () => {
    const tools: [{ name: string; [field: string]: unknown }, () => unknown][] = [
      [{ name: "who" }, () => text("called")],
      [{ name: "secret", _meta: { "agentenv.io/hiddenByDefault": true } }, () => text("never")],
    ];
    const intercept: Parameters<typeof mcpFixture>[0]["intercept"] = (request, response) => {
      if (request.headers["x-echo"] === undefined) return false;
      const answer = request.headers["x-answer"];
      if (typeof answer === "string") return answerOddly(answer, request.headers["accept-encoding"], response);
      response.writeHead(200, { "content-type": "application/json" }).end("[]");
      return true;
    };
    items = await mcpFixture({ name: "items", tools, intercept });
    shop = await mcpFixture({
      name: "shop",
      answerAs: "json",
      tools: [],
      intercept,
      card: { name: "shop", capabilities: { operations: [] }, additionalInterfaces: [{ url: "mcp", transport: "mcp" }] },
    });
    gateway = await start({
      record: {
        servers: [
          { name: "items", kind: "mcp", url: items.url },
          { name: "shop", kind: "website", url: shop.url, frontend_url: shop.url },
        ],
      },
      settings: { GATEWAY_MAX_MESSAGE_BYTES: "200000" },
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await Promise.all([items.close(), shop.close()]);
  });
  beforeEach(() => {
    items.received.length = 0;
    shop.received.length = 0;
  });
  const send = (path: string, body: string | Buffer, headers: Record<string, string> = {}) =>
    raw(gateway, path, { method: "POST", headers: { ...JSON_HEADERS, "x-echo": "1", ...headers }, body });
  const arrived = (server: McpFixture) => JSON.parse(server.received.at(-1)?.body.toString() ?? "null");

  const SPELLINGS = ["mcp", "mcp/", "./mcp", "x/../mcp", "MCP", "m%63p", "m%2563p", "mcp;a=1", "/mcp", "mcp.", "mcp/under", "%EF%BD%8Dcp"];
  test.each(SPELLINGS)("V34 W4 a forged role at %s reaches the server as the caller's", async (spelling) => {
    await send(`/svc/mcp-items/${spelling}`, JSON.stringify(FORGED));
    expect(arrived(items)).toEqual(STAMPED);
  });

  test.each(["mcp", "./mcp", "M%43P"])("V36 W4 the same at a site's %s", async (spelling) => {
    await send(`/svc/shop/${spelling}`, JSON.stringify(FORGED), { "AgentEnv-Role": "alice" });
    expect(arrived(shop).params._meta).toEqual({ progressToken: 7, "agentenv.io/role": "alice" });
  });

  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("W4 in %s it is decoded, stamped, and sent plain with its new length", async (coding, encode) => {
    await send("/svc/mcp-items/mcp", encode(JSON.stringify(FORGED)), { "content-encoding": coding });
    const last = items.received.at(-1);
    const fields = new Map(last?.headers.map(([name, value]) => [name.toLowerCase(), value]));
    expect([arrived(items), fields.get("content-encoding"), Number(fields.get("content-length"))]).toEqual([
      STAMPED,
      undefined,
      last?.body.length,
    ]);
  });

  test.each(["application/json; charset=utf-7", "application/json;charset=UTF-16LE", "application/x-www-form-urlencoded", "text/plain"])(
    "W4 under Content-Type %s the body is sent as what was checked: JSON in UTF-8",
    async (type) => {
      // in UTF-7 `+ACI-` is a quote, and the string ends the params for others that claim a role
      const body = JSON.stringify({ ...FORGED, zz: "+ACIALAAi-params+ACI-:{+ACI-_meta+ACI-:{}}" });
      await send("/svc/mcp-items/mcp", body, { "content-type": type });
      const types = items.received.at(-1)?.headers.filter(([name]) => name.toLowerCase() === "content-type");
      expect([types?.map(([, value]) => value), arrived(items).params]).toEqual([["application/json"], STAMPED.params]);
    },
  );

  test("W4 chunked", async () => {
    await send("/svc/mcp-items/mcp", JSON.stringify(FORGED), { "transfer-encoding": "chunked" });
    expect(arrived(items)).toEqual(STAMPED);
  });

  test("W4 every message of a batch", async () => {
    await send("/svc/mcp-items/mcp", JSON.stringify([FORGED, { jsonrpc: "2.0", method: "notifications/x" }, FORGED]));
    expect(arrived(items)).toEqual([STAMPED, { jsonrpc: "2.0", method: "notifications/x" }, STAMPED]);
  });

  test("W4 of doubled keys the last counts, and only it is sent", async () => {
    const body =
      '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"who"},"params":{"name":"who","_meta":{"agentenv.io/role":"user"},"_meta":{"agentenv.io/role":"admin","agentenv\\u002eio/role":"root","kept":12345678901234567890}}}';
    await send("/svc/mcp-items/mcp", body);
    expect(items.received.at(-1)?.body.toString()).toBe(
      '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"who","_meta":{"agentenv.io/role":"default","kept":12345678901234567890}}}',
    );
  });

  test("W4 params named in an odd way are stamped all the same", async () => {
    await send(
      "/svc/mcp-items/mcp",
      '{"jsonrpc":"2.0","id":3,"method":"tools/call","par\\u0061ms":{"name":"who","_meta":{"agentenv.io\\/role":"admin"},"__proto__":{"a":1}}}',
    );
    expect(items.received.at(-1)?.body.toString()).toBe(
      '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"who","_meta":{"agentenv.io/role":"default"},"__proto__":{"a":1}}}',
    );
  });

  test("a message without params goes as it is: the role header speaks", async () => {
    await send("/svc/mcp-items/mcp", '{"jsonrpc":"2.0","id":1,"method":"ping"}');
    expect(arrived(items)).toEqual({ jsonrpc: "2.0", id: 1, method: "ping" });
  });

  test.each(["[[]]", `[[${JSON.stringify(FORGED)}]]`, `[${JSON.stringify(FORGED)},1]`, "[]", '"x"', "1", "null"])(
    "W4 %s holds what is no message: 400, and nothing is sent",
    async (body) => {
      const answer = await send("/svc/mcp-items/mcp", body);
      expect([answer.status, answer.json()]).toEqual([
        400,
        { jsonrpc: "2.0", id: null, error: { code: -32600, message: "the body is neither an object nor a list of some" } },
      ]);
      expect(items.received).toEqual([]);
    },
  );

  test.each([
    ["no JSON", "{", {}, 400],
    ["no UTF-8", Buffer.from([0x7b, 0xff]), {}, 400],
    ["an unknown coding", "x", { "content-encoding": "zstd" }, 415],
    ["a coding that it isn't in", "x", { "content-encoding": "gzip" }, 400],
    ["over the limit", JSON.stringify({ pad: "x".repeat(200_001) }), {}, 413],
    ["over the limit once decoded", gzipSync(JSON.stringify({ pad: "x".repeat(300_000) })), { "content-encoding": "gzip" }, 413],
  ])("%s is refused, and nothing is sent", async (_name, body, headers, status) => {
    expect((await send("/svc/mcp-items/mcp", body, headers as Record<string, string>)).status).toBe(status);
    expect(items.received).toEqual([]);
  });

  test("a path without a safe reading, and an Upgrade, are 400", async () => {
    expect((await send("/svc/mcp-items/x%2f..%2fmcp", "{}")).status).toBe(400);
    const upgrade = await raw(gateway, "/svc/mcp-items/mcp", {
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
      },
    });
    expect(upgrade.status).toBe(400);
    expect(items.received).toEqual([]);
  });

  test("V35 elsewhere the body's bytes are not touched", async () => {
    for (const path of ["mcpx", "agentenv"]) {
      await send(`/svc/mcp-items/${path}`, `${JSON.stringify(FORGED)} `);
      expect(items.received.at(-1)?.body.toString()).toBe(`${JSON.stringify(FORGED)} `);
    }
  });

  test("V37 a tool that the role may not use is answered here, in a batch for that message alone", async () => {
    const secret = { jsonrpc: "2.0", id: "s", method: "tools/call", params: { name: "secret" } };
    const refusal = {
      jsonrpc: "2.0",
      id: "s",
      result: { content: [{ type: "text", text: "Tool 'secret' is disabled for role 'default'" }], isError: true },
    };
    const single = await send("/svc/mcp-items/mcp", JSON.stringify(secret));
    expect(single.json()).toEqual(refusal);
    expect(items.received).toEqual([]);
    const batch = await send("/svc/mcp-items/mcp", JSON.stringify([secret, FORGED]));
    const unanswered = { jsonrpc: "2.0", id: 3, error: { code: -32603, message: "mcp-items: it did not answer this request" } };
    expect([batch.json(), arrived(items)]).toEqual([[unanswered, refusal], [STAMPED]]);
  });

  const SECRET = { jsonrpc: "2.0", id: "s", method: "tools/call", params: { name: "secret" } };
  test.each([
    ["html", "its answer is no JSON"],
    ["deep", "its answer is JSON that nests deeper than 128"],
    ["numbers", "its answer holds what is no JSON object"],
    ["nothing", "it did not answer this request"],
    ["large", "its answer is larger than 200000 bytes"],
    ["cut", "the connection was cut"],
  ])("V37 a server that answers such a batch with %s: its messages get an error", async (how, why) => {
    const batch = await send("/svc/mcp-items/mcp", JSON.stringify([SECRET, FORGED, { jsonrpc: "2.0", method: "n" }]), { "x-answer": how });
    const error = { jsonrpc: "2.0", id: 3, error: { code: -32603, message: `mcp-items: ${why}` } };
    expect([batch.status, batch.json()]).toEqual([200, [error, expect.objectContaining({ id: "s" })]]);
  });

  test("V37 to such a batch's answer ours are added, JSON or events, and it is asked for in no coding", async () => {
    const headers = { "accept-encoding": "gzip" };
    const both = JSON.stringify([SECRET, FORGED]);
    const plain = await send("/svc/mcp-items/mcp", both, { ...headers, "x-answer": "json" });
    expect(plain.json()).toEqual([{ jsonrpc: "2.0", id: 3, result: { accepts: "identity" } }, expect.objectContaining({ id: "s" })]);
    const events = await send("/svc/mcp-items/mcp", both, { ...headers, "x-answer": "events" });
    expect(messagesIn(events).map(({ id }) => id)).toEqual(["s", 3]);
  });
});
