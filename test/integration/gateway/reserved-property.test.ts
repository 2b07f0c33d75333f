import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sayFigure } from "../../../bench/long-forms.ts";
import { type ByteRecorder, byteRecorder, markOf } from "../../fixtures/gateway/byte-recorder.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type RawBytes, RawClients, type RawStatus } from "../../fixtures/gateway/raw-client.ts";
import { card } from "../../fixtures/gateway/recorder.ts";
import { mayReach, spellingOf } from "../../fixtures/gateway/spellings.ts";
import { holds, PROPERTY } from "../../fixtures/property.ts";

/** In the long form twenty times as many: 100,000 on each host. */
const SPELLINGS = 5_000;
/** As many are sent at once. */
const AT_ONCE = 25;
const ANSWER_MS = 60_000;
const RESERVED = ["mcp", "agentenv", "agentenv/ext/x", ".well-known/agent-env.json", "rpc/v1", "tools/mcp", "hooks/run", "cdn-cgi/x"];
const CARD = card("shop", {
  url: "/agentenv",
  additionalInterfaces: [
    { url: "rpc/v1", transport: "a2a" },
    { url: "./mcp", transport: "a2a" },
    { url: "http://shop-website-backend:8000/tools/mcp", transport: "a2a" },
  ],
  capabilities: { operations: [], extensions: [{ uri: "urn:x:hooks/v1", params: { endpoint: "hooks/run" } }] },
});

/** How a spelling is sent: by which address of the site, and in which form of request. */
const sending = fc.record({
  path: spellingOf(RESERVED),
  method: fc.constantFrom("GET", "GET", "GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PROPFIND"),
  door: fc.constantFrom("prefix", "prefix", "host"),
  isAbsolute: fc.constantFrom(false, false, false, true),
  isUpgrade: fc.oneof({ weight: 19, arbitrary: fc.constant(false) }, fc.constant(true)),
});
type Sending = typeof sending extends fc.Arbitrary<infer Value> ? Value : never;
const UPGRADE = [
  ["connection", "Upgrade"],
  ["upgrade", "websocket"],
  ["sec-websocket-version", "13"],
  ["sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="],
] as const;

afterAll(endHosts);

describe.each(HOSTS)("reserved paths on the $host host", ({ host: hostName, start }) => {
  let gateway: RunningGateway;
  let backend: ByteRecorder;
  let frontend: ByteRecorder;
  let clients: RawClients;
  beforeAll(async () => {
    backend = await byteRecorder(({ target }) => (target === "/.well-known/agent-env.json" ? { json: CARD } : { status: 404, json: null }));
    frontend = await byteRecorder(() => ({ json: "page" }));
    const site = { name: "shop", kind: "website" as const, url: backend.url, frontend_url: frontend.url };
    gateway = await start({ record: (deployment) => ({ servers: [{ ...site, label: `shop--${deployment}` }] }) });
    clients = new RawClients(gateway.port, { count: AT_ONCE, budgetMs: ANSWER_MS });
  });
  afterAll(async () => {
    clients.close();
    await gateway.stop();
    await Promise.all([backend.close(), frontend.close()]);
  });

  const rawOf = ({ path, method, door, isAbsolute, isUpgrade }: Sending): RawBytes => {
    const host = door === "host" ? `shop--${gateway.deployment}.localhost:${gateway.port}` : `127.0.0.1:${gateway.port}`;
    const target = `${isAbsolute ? `http://${host}` : ""}${door === "host" ? "" : `${gateway.prefix}/website/shop`}${path}`;
    return { method, target, fields: [["host", host], ...(isUpgrade ? UPGRADE : [])] };
  };
  /** Sends requests at once: the status of each, and the targets under which it arrived. */
  const sent = async (requests: readonly Sending[]) => {
    frontend.received.length = 0;
    const statuses = await clients.statuses(requests.map(rawOf));
    return requests.map(({ path }, at) => ({
      path,
      status: statuses[at],
      arrived: frontend.received.filter((request) => markOf(request) === String(at)).map(({ target }) => target),
    }));
  };

  test("W3.2 no spelling of a reserved path reaches a site, by any method, form of request or address", PROPERTY, async () => {
    const figures = { spellings: 0, arrived: 0 };
    const property = fc.asyncProperty(fc.array(sending, { minLength: AT_ONCE, maxLength: AT_ONCE }), async (requests) => {
      const answered = await sent(requests);
      const count = answered.reduce((sum, { arrived }) => sum + arrived.length, 0);
      figures.spellings += AT_ONCE;
      figures.arrived += count;
      expect(answered.flatMap(problemsOf)).toEqual([]);
      // none without its mark, and none at the backend but the gateway's own look at the card
      expect(frontend.received.length).toBe(count);
      expect(backend.received.filter((request) => markOf(request) !== undefined)).toEqual([]);
    });
    await holds(property, SPELLINGS / AT_ONCE);
    const { spellings, arrived } = figures;
    sayFigure(`reserved paths, ${hostName} host`, `of ${spellings} spellings ${arrived} are none of a reserved path, and arrived`);
  });

  test("W3.2 what is no reserved path arrives exactly as the URL parser leaves it", PROPERTY, async () => {
    const words = fc.constantFrom("mcpx", "x", "a%2Fb", "agentenvy", "shop", "a+b", "c;p=1", "%C3%A9", "index.html", "a%20b", "%252F");
    const queries = fc.constantFrom("", "?", "?a=1&a=2", "?q=%2F");
    const path = fc.tuple(fc.array(words, { minLength: 1, maxLength: 4 }), queries).map(([words, query]) => `/${words.join("/")}${query}`);
    const property = fc.asyncProperty(fc.array(path, { minLength: AT_ONCE, maxLength: AT_ONCE }), async (paths) => {
      const answered = await sent(paths.map((path) => ({ path, method: "GET", door: "prefix", isAbsolute: false, isUpgrade: false })));
      expect(answered).toEqual(paths.map((path) => ({ path, status: 200, arrived: [path] })));
    });
    await holds(property, 20);
  });
});

/** What is wrong with an answered request; nothing where it was refused, or arrived once under a path that isn't reserved. */
function problemsOf(answered: { path: string; status: RawStatus | undefined; arrived: readonly string[] }): unknown[] {
  const { status, arrived } = answered;
  const [target, ...others] = arrived;
  if (target === undefined) return status === 308 || status === 400 || status === 404 || status === "closed" ? [] : [answered];
  return status === 200 && others.length === 0 && !mayReach(target, RESERVED) ? [] : [answered];
}
