import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { UserError } from "@agent-env/protocol";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { processTable } from "../../build-service/src/providers/sandbox/process/process-table.ts";
import type { Row } from "../../build-service/src/run/verifiers/rows.ts";
import { runVerifier, type VerifierCall, type VerifierRequest } from "../../build-service/src/run/verifiers/script.ts";
import { until } from "../fixtures/until.ts";

type Options = Partial<Omit<VerifierRequest, "script">>;

let gateway: { url: string; close(): Promise<void> };
let temporary: string;
const log: string[] = [];
const calls: Omit<VerifierCall, "ms">[] = [];

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  log.length = 0;
  calls.length = 0;
  temporary = await mkdtemp(join(tmpdir(), "agent-env-test-"));
  process.env.TMPDIR = temporary;
});
afterEach(async () => {
  const left = await readdir(temporary);
  await rm(temporary, { recursive: true });
  delete process.env.TMPDIR;
  expect(left).toEqual([]);
});

function run(filename: string, script: string, options: Options = {}): Promise<Row[]> {
  return runVerifier({
    script: Buffer.from(script),
    filename,
    mcpUrl: `${gateway.url}/mcp`,
    gatewayUrl: gateway.url,
    envView: { name: "suite" },
    run: null,
    python: "python3",
    timeoutMs: 20_000,
    memoryMb: 512,
    signal: new AbortController().signal,
    onLog: (line) => log.push(line),
    onCall: ({ method, target, ok }) => calls.push({ method, target, ok }),
    ...options,
  });
}

async function refusal(running: Promise<unknown>): Promise<string[]> {
  const error = await running.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof UserError) return [error.message, error.why, error.next];
  throw error ?? new Error("it gave rows");
}

describe("a verifier's script gives rows", () => {
  test("in TypeScript, with types stripped, through ctx, and its calls are reported", async () => {
    const script = `
      import type { Row } from "nowhere";
      type Context = { run: null; env: { name: string }; listTools(): Promise<{ name: string }[]>; callTool(n: string, a: object): Promise<any>; fetch(p: string, o?: object): Promise<Response> };
      export async function verify(mcpUrl: string, ctx: Context): Promise<Row[]> {
        console.log("looking at", ctx.env.name);
        const tools = await ctx.listTools();
        const answer = await ctx.callTool("add", { a: 1, b: 2 });
        const broken = await ctx.callTool("break", {});
        const page = await ctx.fetch("/website/shop/");
        const gone = await ctx.fetch("svc/shop/none", { method: "POST" });
        return [
          { id: "tools", result: tools.map((tool) => tool.name).join() === "add,break" },
          { id: "sum", result: answer.structuredContent.sum === 3, score: 1, weight: 2 },
          { id: "broken", result: broken.isError === true },
          { id: "page", result: (await page.text()) === "shop", note: "kept" },
          { id: "gone", result: gone.status === 404, run: ctx.run },
        ];
      }`;
    expect(await run("tasks/check.ts", script)).toEqual([
      { id: "tools", result: true },
      { id: "sum", result: true, score: 1, weight: 2 },
      { id: "broken", result: true },
      { id: "page", result: true, note: "kept" },
      { id: "gone", result: true, run: null },
    ]);
    expect(log).toEqual(["looking at suite"]);
    expect(calls).toEqual([
      { method: "tools/list", target: "/mcp", ok: true },
      { method: "tools/call", target: "add", ok: true },
      { method: "tools/call", target: "break", ok: false },
      { method: "GET", target: "/website/shop/", ok: true },
      { method: "POST", target: "svc/shop/none", ok: false },
    ]);
  });

  const shapes: [filename: string, script: string][] = [
    ["a.mts", "export default async (url: string) => [{ result: url.endsWith('/mcp') }]"],
    ["a.js", "module.exports = { verify: () => [{ result: true }] }"],
    ["a.js", "export const verify = () => Promise.resolve([{ result: true }])"],
    ["a.mjs", "export default { verify: () => [{ result: true }] }"],
    ["a.py", "def verify(mcp_url):\n  return [{'result': mcp_url.endswith('/mcp')}]"],
    ["a.py", "async def verify(mcp_url, run):\n  return [{'result': run is None}]"],
    ["a.py", "class V:\n  async def __call__(self, mcp_url):\n    return [{'result': True}]\nverify = V()"],
  ];
  test.each(shapes)("%s: %s", async (filename, script) => {
    expect(await run(filename, script)).toEqual([{ result: true }]);
  });

  test("with nothing in its environment but PATH, HOME and LANG, in an empty folder that is its HOME", async () => {
    process.env["AGENT_ENV_TEST_SECRET"] = "x";
    const node = `
      import { readdirSync } from "node:fs";
      export const verify = () => [{ result: true, env: Object.keys(process.env).sort(), files: readdirSync("."), home: process.env.HOME === process.cwd(), argv: process.argv.length }];`;
    const python = `
import os, sys
def verify(mcp_url):
    return [{"result": True, "env": sorted(os.environ), "files": os.listdir("."), "home": os.environ["HOME"] == os.getcwd(), "argv": len(sys.argv)}]`;
    const common = { result: true, files: [], home: true };
    expect(await run("env.ts", node)).toEqual([{ ...common, env: ["HOME", "LANG", "PATH"], argv: 2 }]);
    const [row] = await run("env.py", python);
    expect(row).toMatchObject({ ...common, argv: 1 });
    // What python3 adds to itself as it starts: a locale, or the variables of the script that stands for it on this machine.
    const bare = { PATH: process.env.PATH ?? "", HOME: temporary, LANG: "C.UTF-8" };
    const own = execFileSync("python3", ["-c", "import os; print(*sorted(os.environ))"], { env: bare, encoding: "utf8" }).trim().split(" ");
    expect(row?.["env"]).toEqual(own);
    delete process.env["AGENT_ENV_TEST_SECRET"];
  });

  test("what it prints is log, line by line, also what it printed last", async () => {
    const script = `export function verify() { process.stdout.write("a\\nb"); console.error("c"); process.stdout.write("{\\"rows\\":[]}"); return []; }`;
    expect(await run("log.js", script)).toEqual([]);
    expect(log.sort()).toEqual(["a", 'b{"rows":[]}', "c"]);
    log.length = 0;
    await run("log.py", "import sys\ndef verify(u):\n  print('a')\n  print('b', end='')\n  print('c', file=sys.stderr)\n  return []");
    expect(log.sort()).toEqual(["a", "b", "c"]);
  });

  test("and not even kill -9 of the command leaves the script, what it started, or its folder", async () => {
    const command = spawn(process.execPath, [fileURLToPath(new URL("../fixtures/verify-and-stay.ts", import.meta.url))]);
    const [line] = await once(command.stdout, "data");
    const pids = String(line).trim().split(" ").slice(1).map(Number);
    expect(readdirSync(temporary)).toHaveLength(1);
    command.kill("SIGKILL");
    await until("the script ends", 5_000, async () => !(await processTable()).some(({ pid, ended }) => pids.includes(pid) && !ended));
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("and the processes that it started are gone afterwards", async () => {
    const script = `
      import { spawn } from "node:child_process";
      export const verify = () => [{ result: true, pid: spawn("sleep", ["300"]).pid }];`;
    const [row] = await run("spawn.mjs", script);
    expect((await processTable()).filter(({ pid, ended }) => pid === row?.["pid"] && !ended)).toEqual([]);
  });
});

describe("what isn't a list of rows is a named failure, never a score", () => {
  const MEND = "mend the script: where it broke is in its log";
  const RETURN = 'return a list such as [{"result": true, "description": "the order is there"}]';
  const cases: [filename: string, script: string, error: string[]][] = [
    ["x.ts", "export function verify() { throw new TypeError('no order') }", ["x.ts: verify() threw", "TypeError: no order", MEND]],
    ["x.py", "def verify(u):\n  raise ValueError('no order')", ["x.py: verify() threw", "ValueError: no order", MEND]],
    ["x.py", "import sys\ndef verify(u):\n  sys.exit(0)", ["x.py: verify() threw", "SystemExit: 0", MEND]],
    [
      "x.ts",
      "export const verify = () => { setTimeout(() => { throw new Error('late') }); return new Promise(() => {}) }",
      ["x.ts: verify() threw", "Error: late", MEND],
    ],
    [
      "x.ts",
      "import x from 'left-pad'; export const verify = x",
      ["x.ts: it can't be loaded", expect.stringContaining("Cannot find package 'left-pad'"), MEND],
    ],
    ["x.py", "def verify(u)\n  pass", ["x.py: it can't be loaded", expect.stringContaining("SyntaxError: expected ':'"), MEND]],
    [
      "x.mts",
      "export const check = () => []",
      [
        'x.mts: it has no function "verify"',
        "verify(mcpUrl, ctx), the default or a named export, is what is called",
        "name its function so",
      ],
    ],
    ["x.py", "check = 1", ['x.py: it has no function "verify"', "verify(mcp_url) is what is called", "name its function so"]],
    [
      "x.js",
      "export const verify = () => true",
      ["x.js: verify() returned no list of rows", "it: Invalid input: expected array, received boolean", RETURN],
    ],
    [
      "x.js",
      "export const verify = () => {}",
      ["x.js: verify() returned no list of rows", "it: Invalid input: expected array, received null", RETURN],
    ],
    [
      "x.js",
      "export const verify = () => [{result: true}, {result: 'yes'}]",
      ["x.js: verify() returned no list of rows", "row 2, result: Invalid input: expected boolean, received string", RETURN],
    ],
    [
      "x.js",
      "export const verify = () => [{result: true, score: '1'}]",
      ["x.js: verify() returned no list of rows", "row 1, score: Invalid input: expected number, received string", RETURN],
    ],
    [
      "x.js",
      "export const verify = () => [{result: true, score: 0 / 0}]",
      ["x.js: verify() threw", "RangeError: score is NaN, and has to be a finite number", MEND],
    ],
    [
      "x.py",
      "def verify(u):\n  return [{'result': True, 'score': float('inf')}]",
      ["x.py: verify() threw", "ValueError: Out of range float values are not JSON compliant", MEND],
    ],
    [
      "x.py",
      "def verify(u):\n  return [{'result': 1}]",
      ["x.py: verify() returned no list of rows", "row 1, result: Invalid input: expected boolean, received number", RETURN],
    ],
    [
      "x.js",
      "export const verify = () => process.exit(0)",
      ["x.js: it ended before verify() returned", "exit code 0", "return the rows: a verifier neither exits nor ends its process"],
    ],
    [
      "x.py",
      "import os, signal\ndef verify(u):\n  os.kill(os.getpid(), signal.SIGSEGV)",
      [
        "x.py: it ended before verify() returned",
        "it was ended by SIGSEGV",
        "return the rows: a verifier neither exits nor ends its process",
      ],
    ],
    [
      "x.js",
      "import { writeSync } from 'node:fs'; export const verify = () => { writeSync(3, 'score: 1\\n'); return [] }",
      ["x.js: it wrote to descriptor 3", '"score: 1" is no report of a verifier', "print to standard output or error"],
    ],
    [
      "x.rb",
      "def verify; end",
      ['"x.rb": a verifier\'s file ends in .py, .ts, .mts, .js, .mjs', "its suffix decides what runs a verifier", "agent-env bundle check"],
    ],
  ];
  test.each(cases)("%s: %s", async (filename, script, error) => {
    expect(await refusal(run(filename, script))).toEqual(error);
  });

  test("Python that isn't there", async () => {
    expect(await refusal(run("x.py", "", { python: "python9" }))).toEqual([
      '"x.py": "python9" isn\'t a program on this machine: install it, or put it on PATH',
      "its suffix decides what runs a verifier",
      "agent-env bundle check",
    ]);
  });

  const loops: [filename: string, script: string][] = [
    ["loop.ts", "export const verify = () => { for (;;); }"],
    ["loop.py", "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ndef verify(u):\n  while True: pass"],
    ["wait.mjs", "export const verify = () => new Promise(() => {})"],
  ];
  test.each(loops)("%s is ended at its time-out", async (filename, script) => {
    expect(await refusal(run(filename, script, { timeoutMs: 600 }))).toEqual([
      `${filename}: verify() didn't return within 0.6 s`,
      "no verifier may take longer",
      "mend the script, or let it check less",
    ]);
  });

  const hogs: [filename: string, script: string, why: string][] = [
    ["heap.js", "export const verify = () => { const all = []; for (;;) all.push(new Array(1e5).fill(all.length)) }", ""],
    [
      "buffers.js",
      "export const verify = async () => { const all = []; for (;;) { all.push(Buffer.alloc(1e7, 1)); await new Promise(setImmediate) } }",
      "its processes together held more",
    ],
    ["list.py", "def verify(u):\n  all = []\n  while True: all.append(bytearray(10_000_000))", "MemoryError"],
    [
      "children.py",
      "import subprocess, sys\ndef verify(u):\n  all = [subprocess.Popen([sys.executable, '-c', 'x = bytearray(150_000_000); input()'], stdin=subprocess.PIPE) for _ in range(3)]\n  all[0].wait()",
      "its processes together held more",
    ],
  ];
  test.each(hogs)("%s is ended at its memory limit", async (filename, script, why) => {
    const [what, reason, next] = await refusal(run(filename, script, { memoryMb: 256 }));
    expect([what, next]).toEqual([`${filename}: it used more than 256 MB`, "mend the script, or let it hold less at once"]);
    expect(reason).toContain(why);
  });

  test("50 MiB of output are the end", async () => {
    const script =
      "export const verify = async () => { for (;;) await new Promise((sent) => process.stdout.write('x'.repeat(1e6) + '\\n', sent)) }";
    expect(await refusal(run("loud.js", script, { onLog: () => {} }))).toEqual([
      "loud.js: it printed more than 50 MiB",
      "what a verifier prints is kept as its log",
      "print less",
    ]);
  });

  test("ctx.fetch without a gateway says so", async () => {
    const script = "export const verify = (url, ctx) => ctx.fetch('/x')";
    expect((await refusal(run("x.js", script, { gatewayUrl: null })))[1]).toBe(
      "Error: ctx.fetch: this env is deployed without a gateway, only its tools can be called",
    );
  });

  test("a cancelled run ends it with the run's own reason", async () => {
    const controller = new AbortController();
    const running = run("wait.js", "export const verify = () => { console.log('up'); return new Promise(() => {}) }", {
      signal: controller.signal,
      onLog: () => controller.abort(new Error("interrupted")),
    });
    await expect(running).rejects.toThrow("interrupted");
  });
});

/** What a verifier meets: an MCP server at `/mcp`, and a page. */
async function startGateway(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    if (request.url === "/website/shop/") return response.end("shop");
    if (request.url !== "/mcp" || request.method !== "POST") return response.writeHead(404).end();
    const mcp = new McpServer({ name: "suite", version: "1" });
    mcp.registerTool("add", { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } }, ({ a, b }) => ({
      content: [],
      structuredContent: { sum: a + b },
    }));
    mcp.registerTool("break", {}, () => ({ content: [], isError: true }));
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await mcp.connect(transport);
    await transport.handleRequest(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  };
}
