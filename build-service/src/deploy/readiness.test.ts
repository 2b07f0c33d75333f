import { createServer, type RequestListener, type Server } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import type { Probe } from "../providers/sandbox/provider.ts";
import { attemptOf, settled } from "./readiness.ts";

const servers: Server[] = [];
const never = new AbortController().signal;

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

async function serving(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return `http://127.0.0.1:${address.port}`;
}

const routes =
  (answers: Record<string, [number, unknown]>): RequestListener =>
  (request, response) => {
    const [status, body] = answers[`${request.method} ${request.url}`] ?? [404, "none"];
    response.writeHead(status, { "content-type": "application/json" }).end(typeof body === "string" ? body : JSON.stringify(body));
  };

function probed(kind: Probe["kind"], url: string): Promise<string | null> {
  return attemptOf({ name: "x", kind, url, budgetSeconds: 1 })(never);
}

describe("P1 a server is ready", () => {
  test("over HTTP when it answers 2xx, and the reason tells what it said instead", async () => {
    const url = await serving(routes({ "GET /ok": [204, ""], "GET /bad": [503, { error: "starting" }] }));
    expect(await probed("http", `${url}/ok`)).toBeNull();
    expect(await probed("http", `${url}/bad`)).toBe('HTTP 503: {"error":"starting"}');
  });

  test("over TCP when it takes a connection", async () => {
    const url = (await serving(routes({}))).replace("http:", "tcp:");
    expect(await probed("tcp", url)).toBeNull();
  });

  const initialized = { jsonrpc: "2.0", id: 1, result: { protocolVersion: "2025-11-25" } };
  test.each<[string, Record<string, [number, unknown]>, string | null]>([
    ["as MCP when /ready is 200", { "GET /ready": [200, "ok"] }, null],
    ["as MCP when initialize is answered", { "POST /mcp": [200, initialized] }, null],
    ["not for a 406 at its endpoint", { "POST /mcp": [406, "no"] }, "neither GET /ready (HTTP 404) nor MCP at /mcp answers"],
    [
      "not for a JSON-RPC error",
      { "POST /mcp": [200, { jsonrpc: "2.0", id: 1, error: {} }] },
      "neither GET /ready (HTTP 404) nor MCP at /mcp answers",
    ],
  ])("%s", async (_name, answers, reason) => {
    expect(await probed("mcp", `${await serving(routes(answers))}/mcp`)).toBe(reason);
  });

  test("as MCP when initialize is answered by an event stream, and its session is closed", async () => {
    const closed: unknown[] = [];
    const url = await serving((request, response) => {
      if (request.method === "DELETE") closed.push(request.headers["mcp-session-id"]);
      if (request.method !== "POST") return response.writeHead(request.method === "DELETE" ? 200 : 404).end();
      response.writeHead(200, { "content-type": "text/event-stream", "mcp-session-id": "s1" });
      // The stream stays open.
      return response.write(`event: message\ndata: ${JSON.stringify(initialized)}\n\n`);
    });
    expect(await probed("mcp", `${url}/mcp`)).toBeNull();
    expect(closed).toEqual(["s1"]);
    for (const server of servers) server.closeAllConnections();
  });

  const CARD = "GET /.well-known/agent-env.json";
  test.each<[string, Record<string, [number, unknown]>, string | null]>([
    ["as a backend when its health is 2xx", { "GET /api/health": [200, {}] }, null],
    ["as a backend without that route when it has a card", { [CARD]: [200, { name: "shop", capabilities: {} }] }, null],
    ["as a backend without that route and without a card", {}, null],
    ["not while its health is 503", { "GET /api/health": [503, ""] }, "HTTP 503"],
    ["not while its card is 500", { [CARD]: [500, ""] }, "its card: HTTP 500"],
    ["not while its card is none", { [CARD]: [200, {}] }, "its card: no JSON object with a name"],
  ])("%s", async (_name, answers, reason) => {
    expect(await probed("backend", await serving(routes(answers)))).toBe(reason);
  });
});

describe("a probe", () => {
  test("ends with its last reason when its budget is over", async () => {
    const url = await serving(routes({ "GET /": [500, ""] }));
    const result = await settled(
      { name: "web", budgetSeconds: 0.2, attempt: attemptOf({ name: "web", kind: "http", url, budgetSeconds: 0 }) },
      never,
    );
    expect(result).toMatchObject({ name: "web", ok: false, reason: "HTTP 500" });
    expect(result.afterMs).toBeGreaterThanOrEqual(200);
  });

  test("names a refused connection, and goes on until the thing is there", async () => {
    const reasons: (string | null)[] = ["connection refused", null];
    const attempt = async (): Promise<string | null> => {
      const reason = reasons.shift() ?? null;
      if (reason !== null)
        throw Object.assign(new Error("fetch failed"), { cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }) });
      return reason;
    };
    expect(await settled({ name: "web", budgetSeconds: 0, attempt }, never)).toMatchObject({ ok: false, reason: "connection refused" });
    expect(await settled({ name: "web", budgetSeconds: 0, attempt }, never)).toMatchObject({ ok: true });
  });

  test("is ended by its signal, with the signal's reason", async () => {
    const reason = new Error("interrupted");
    const attempt = async (): Promise<string> => "not yet";
    const abort = new AbortController();
    const probe = settled({ name: "web", budgetSeconds: 60, attempt }, abort.signal);
    abort.abort(reason);
    await expect(probe).rejects.toBe(reason);
  });
});
