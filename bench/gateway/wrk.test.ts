import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { which } from "../../scripts/setup/command.ts";
import { freePort } from "../../test/fixtures/free-port.ts";
import { echoAnswer } from "./echo-tool.ts";
import { callLoad, getLoad } from "./wrk.ts";

const hasWrk = which("wrk") !== null;

describe.skipIf(!hasWrk)("a load by wrk", () => {
  const folder = mkdtempSync(join(tmpdir(), "agent-env-bench-"));
  const sessions = join(folder, "sessions");
  let server: http.Server;
  let url = "";
  let seen: { readonly headers: http.IncomingHttpHeaders; readonly body: string };

  beforeAll(async () => {
    writeFileSync(sessions, "one\ntwo\n");
    server = http.createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      seen = { headers: request.headers, body };
      if (request.url === "/missing") return void response.writeHead(404).end();
      const answer = body === "" ? "" : (echoAnswer(JSON.parse(body)) ?? "");
      response.end(request.url === "/wrong" ? answer.replace("Echo: m2", "Echo: m1") : answer);
    });
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${port}`;
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  });

  const calls = (path: string) => callLoad({ url: url + path, callers: 1, seconds: 1, sessions, token: null, reads: "checked" });

  test("tells how many calls were answered, and in what time", async () => {
    const load = await calls("/mcp");
    expect([load.calls > 0, load.perSecond > 0, load.p50Ms <= load.p99Ms, load.p99Ms <= load.maxMs]).toEqual([true, true, true, true]);
  });

  test("calls as the modern era has it without sessions, and as the legacy one has it with them", async () => {
    const era = () => {
      const { headers, body } = seen;
      const { _meta } = JSON.parse(body).params;
      return [headers["mcp-protocol-version"], headers["mcp-session-id"], headers["mcp-method"], headers["mcp-name"], _meta];
    };
    const session = expect.stringMatching(/^(one|two)$/);
    await calls("/mcp");
    expect(era()).toEqual(["2025-11-25", session, undefined, undefined, undefined]);
    await callLoad({ url: `${url}/mcp`, callers: 1, seconds: 1, sessions: null, token: null, reads: "checked" });
    const meta = { protocolVersion: "2026-07-28", clientInfo: { name: "bench", version: "1" }, clientCapabilities: {} };
    const inMeta = Object.fromEntries(Object.entries(meta).map(([key, value]) => [`io.modelcontextprotocol/${key}`, value]));
    expect(era()).toEqual(["2026-07-28", undefined, "tools/call", "echo", inMeta]);
  });

  test("fails for a call that is answered with another's text", async () => {
    await expect(calls("/wrong")).rejects.toThrow(/^http:\/\/127\.0\.0\.1:\d+\/wrong: \d+ of \d+ answers are bad ones$/);
  });

  test("fails for a status that is none of a good answer", async () => {
    const get = getLoad({ url: `${url}/missing`, callers: 1, seconds: 1, token: null });
    await expect(get).rejects.toThrow(/^http:\/\/127\.0\.0\.1:\d+\/missing: (\d+) of \1 answers are bad ones$/);
  });
});
