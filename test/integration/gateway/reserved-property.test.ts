import { connect, type Socket } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { endHosts, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { startNodeHost } from "../../fixtures/gateway/node-host.ts";
import { card, type Recorder, recorder } from "../../fixtures/gateway/recorder.ts";

/** How many spellings a run tries. Each run prints its seed on failure. */
const RUNS = Number(process.env["AGENT_ENV_TEST_SPELLINGS"] ?? "4000");
const RESERVED = ["mcp", "agentenv", "agentenv/ext/x", ".well-known/agent-env.json", "rpc/v1"];

let gateway: RunningGateway;
let backend: Recorder;
let frontend: Recorder;
let socket: Socket;
let answers = "";

beforeAll(async () => {
  backend = await recorder({
    card: () => ({
      status: 200,
      body: card("shop", {
        additionalInterfaces: [
          { url: "rpc/v1", transport: "a2a" },
          { url: "./mcp", transport: "a2a" },
        ],
      }),
    }),
  });
  frontend = await recorder();
  gateway = await startNodeHost({ record: { servers: [{ name: "shop", kind: "website", url: backend.url, frontend_url: frontend.url }] } });
});
afterAll(async () => {
  socket?.destroy();
  await gateway.stop();
  await Promise.all([backend.close(), frontend.close(), endHosts()]);
});

let wake = (): void => undefined;

function openSocket(): Socket {
  const opened = connect(gateway.port, "127.0.0.1");
  opened.setEncoding("latin1");
  opened.on("data", (chunk: string) => {
    answers += chunk;
    wake();
  });
  opened.on("error", () => opened.destroy());
  opened.on("close", () => wake());
  return opened;
}

/** Sends one request line as raw bytes, and gives the status. */
async function statusOf(target: string): Promise<number> {
  if (socket === undefined || socket.destroyed) socket = openSocket();
  answers = "";
  socket.write(Buffer.from(`GET ${target} HTTP/1.1\r\nhost: 127.0.0.1:${gateway.port}\r\n\r\n`, "latin1"));
  for (;;) {
    const head = /^HTTP\/1\.1 (\d+)[\s\S]*?\r\n\r\n/.exec(answers);
    const length = Number(/content-length: (\d+)/i.exec(head?.[0] ?? "")?.[1] ?? -1);
    const isWhole = head !== null && (length >= 0 ? answers.length >= head[0].length + length : answers.endsWith("0\r\n\r\n"));
    if (head !== null && (isWhole || socket.destroyed)) return Number(head[1]);
    if (socket.destroyed) return 400;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

/** What careless servers make of a path: every decoding, slash and dot rule applied, again and again. */
function naiveReadings(target: string): string[] {
  const readings = new Set<string>();
  let path = target.replace(/[?#].*$/s, "");
  for (let round = 0; round < 8; round++) {
    for (const cut of [path, path.replace(/;[^/]*/g, "")]) {
      const plain = cut
        .normalize("NFKC")
        .replaceAll("\\", "/")
        .replace(/\p{Cf}/gu, "");
      const segments: string[] = [];
      for (const segment of plain.split("/")) {
        const bare = segment.replace(/[\s.]+$/, "");
        if (segment === "..") segments.pop();
        else if (bare !== "") segments.push(bare.toLowerCase());
      }
      readings.add(segments.join("/"));
    }
    const next = path.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    const decoded = isUtf8(next) ? Buffer.from(next, "latin1").toString() : next;
    if (decoded === path) break;
    path = decoded;
  }
  return [...readings];
}

function isUtf8(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what fits in a byte
  return /^[\u0000-\u00ff]*$/.test(text) && !Buffer.from(text, "latin1").toString().includes("\ufffd");
}

const escaped = (char: string): string => [...Buffer.from(char)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
const fullWidth = (char: string): string => (/[!-~]/.test(char) ? String.fromCharCode(char.charCodeAt(0) + 0xfee0) : char);

const spelledChar = (char: string) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(char) },
    fc.constant(char.toUpperCase()),
    fc.constant(escaped(char)),
    fc.constant(escaped(char).toUpperCase()),
    fc.constant(escaped(escaped(char))),
    fc.constant(escaped(escaped(escaped(char)))),
    fc.constant(escaped(fullWidth(char))),
    fc.constant(Buffer.from(fullWidth(char)).toString("latin1")),
    fc.constant(`${escaped("\u00ad")}${char}`),
    fc.constant(`${char}${escaped("\u200b")}`),
  );
const between = fc.constantFrom("/", "/", "/", "//", "\\", "%2f", "%5c", "/./", "/%2e/", "/x/../", "/x/%2e%2e/", "/x/..%2f", "/;a/", "/;/");
const around = fc.constantFrom(
  "",
  "",
  "",
  ".",
  "..",
  "%20",
  "%2e",
  ";v=1",
  ";",
  "/",
  "/x",
  "?q",
  "#f",
  "%00",
  "%09",
  "%ef%bc%8f",
  " ".trim(),
);
const front = fc.constantFrom("/", "/", "/", "//", "/./", "/%2e%2e/", "/a/../", "/..;/", "/%2f", "/\\", "/%5c", "/%252f");
const spelling = fc
  .constantFrom(...RESERVED)
  .chain((path) =>
    fc.tuple(
      front,
      fc.array(between, { minLength: 3, maxLength: 3 }),
      fc.tuple(...[...path].map((char) => (char === "/" ? fc.constant("/") : spelledChar(char)))),
      around,
    ),
  )
  .map(
    ([start, joints, chars, end]) =>
      start + chars.map((char, at) => (char === "/" ? (joints[at % joints.length] ?? "/") : char)).join("") + end,
  );

test(`W3.2 no spelling of a reserved path reaches a site (${RUNS} spellings)`, async () => {
  await fc.assert(
    fc.asyncProperty(spelling, async (path) => {
      frontend.received.length = 0;
      const status = await statusOf(`/website/shop${path}`);
      const reached = frontend.received.map(({ target }) => target);
      if (reached.length === 0) expect([308, 400, 404]).toContain(status);
      for (const target of reached)
        for (const reading of naiveReadings(target))
          for (const reserved of RESERVED)
            expect([target, reading === reserved || reading.startsWith(`${reserved}/`)]).toEqual([target, false]);
    }),
    { numRuns: RUNS, ...(process.env["AGENT_ENV_TEST_SEED"] === undefined ? {} : { seed: Number(process.env["AGENT_ENV_TEST_SEED"]) }) },
  );
}, 600_000);

test("W3.2 what is no reserved path arrives exactly as the URL parser leaves it", async () => {
  const words = fc.constantFrom("mcpx", "x", "a%2Fb", "agentenvy", "shop", "a+b", "c;p=1", "%C3%A9", "index.html", "a%20b", "%252F");
  await fc.assert(
    fc.asyncProperty(
      fc.array(words, { minLength: 1, maxLength: 4 }),
      fc.constantFrom("", "?", "?a=1&a=2", "?q=%2F"),
      async (segments, query) => {
        frontend.received.length = 0;
        const path = `/${segments.join("/")}${query}`;
        expect(await statusOf(`/website/shop${path}`)).toBe(200);
        expect(frontend.received.map(({ target }) => target)).toEqual([path]);
      },
    ),
    { numRuns: 300 },
  );
});
