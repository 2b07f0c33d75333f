import { isJsonObject, type JsonObject, ROLE_META_KEY, SESSION_META_KEY } from "@agent-env/protocol";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sayFigure } from "../../../bench/long-forms.ts";
import { type ByteRecorder, byteRecorder, markOf, type RequestBytes } from "../../fixtures/gateway/byte-recorder.ts";
import { FORGED, forgedBody, KEPT } from "../../fixtures/gateway/forged-messages.ts";
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
/** Where each server speaks MCP: by its record, and by its card. */
const SERVERS = [
  { name: "items", key: "mcp-items", endpoints: ["mcp", "rpc/v1"] },
  { name: "shop", key: "shop", endpoints: ["tools/mcp"] },
] as const;

const sending = fc.constantFrom(...SERVERS).chain((server) =>
  fc.record({
    server: fc.constant(server),
    path: spellingOf(server.endpoints),
    method: fc.constantFrom("POST", "POST", "POST", "POST", "PUT", "DELETE"),
    isAbsolute: fc.constantFrom(false, false, false, true),
    body: forgedBody(["who", "secret"]),
    roles: fc.constantFrom([], [], [], ["alice"], ["alice", FORGED], [" "]),
  }),
);

type Sending = typeof sending extends fc.Arbitrary<infer Value> ? Value : never;

/** As much of an MCP server as the gateway needs to take it for one; the test's own requests are answered with a batch of nothing. */
function mcpAnswer(server: (typeof SERVERS)[number], request: RequestBytes): { status?: number; json: unknown } {
  if (markOf(request) !== undefined) return { json: [] };
  const { target, body } = request;
  const [endpoint] = server.endpoints.slice(-1);
  if (target === "/.well-known/agent-env.json")
    return { json: card(server.name, { additionalInterfaces: [{ url: endpoint, transport: "mcp" }] }) };
  if (body.length === 0) return { status: 405, json: null };
  const { id, method }: { id?: unknown; method?: unknown } = JSON.parse(body.toString());
  const secret = { name: "secret", inputSchema: { type: "object" }, _meta: { "agentenv.io/hiddenByDefault": true } };
  if (method === "initialize")
    return {
      json: {
        jsonrpc: "2.0",
        id,
        result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: server.name, version: "1" } },
      },
    };
  if (method === "tools/list")
    return { json: { jsonrpc: "2.0", id, result: { tools: [{ name: "who", inputSchema: { type: "object" } }, secret] } } };
  return { json: { jsonrpc: "2.0", id, error: { code: -32601, message: "method not found" } } };
}

afterAll(endHosts);

describe.each(HOSTS)("roles in messages through /svc on the $host host", ({ host, start }) => {
  let gateway: RunningGateway;
  let clients: RawClients;
  const recorders = new Map<string, ByteRecorder>();
  beforeAll(async () => {
    for (const server of SERVERS) recorders.set(server.name, await byteRecorder((request) => mcpAnswer(server, request)));
    const url = (name: string) => recorders.get(name)?.url ?? "";
    gateway = await start({
      record: {
        servers: [
          { name: "items", kind: "mcp", url: url("items") },
          { name: "shop", kind: "website", url: url("shop"), frontend_url: url("shop") },
        ],
      },
    });
    clients = new RawClients(gateway.port, { count: AT_ONCE, budgetMs: ANSWER_MS });
  });
  afterAll(async () => {
    clients.close();
    await gateway.stop();
    await Promise.all([...recorders.values()].map((recorder) => recorder.close()));
  });

  const rawOf = ({ server, path, method, isAbsolute, body, roles }: Sending): RawBytes => {
    const hostField = `127.0.0.1:${gateway.port}`;
    const target = `${isAbsolute ? `http://${hostField}` : ""}${gateway.prefix}/svc/${server.key}${path}`;
    const named = roles.map((role) => ["AgentEnv-Role", role] as const);
    return { method, target, fields: [["host", hostField], ...named, ...body.fields], body: body.framed };
  };

  test("W4 no forged role arrives, by any spelling of an MCP endpoint, form of message, coding or framing", PROPERTY, async () => {
    const figures = { spellings: 0, arrived: 0, checked: 0 };
    const property = fc.asyncProperty(fc.array(sending, { minLength: AT_ONCE, maxLength: AT_ONCE }), async (requests) => {
      for (const { received } of recorders.values()) received.length = 0;
      const statuses = await clients.statuses(requests.map(rawOf));
      const received = [...recorders].flatMap(([name, recorder]) => recorder.received.map((request) => ({ name, request })));
      const outcomes = requests.map((sent, at) => {
        const arrived = received.filter(({ request }) => markOf(request) === String(at));
        const [first] = arrived;
        return {
          sent,
          status: statuses[at],
          arrived,
          isChecked: first !== undefined && mayReach(first.request.target, sent.server.endpoints),
        };
      });
      figures.spellings += AT_ONCE;
      figures.arrived += outcomes.filter(({ arrived }) => arrived.length > 0).length;
      figures.checked += outcomes.filter(({ isChecked }) => isChecked).length;
      expect(outcomes.flatMap(problemsOf)).toEqual([]);
    });
    await holds(property, SPELLINGS / AT_ONCE);
    const { spellings, arrived, checked } = figures;
    sayFigure(`forged roles, ${host} host`, `of ${spellings} spellings ${arrived} arrived, ${checked} where a server may speak MCP`);
  });
});

type Outcome = {
  readonly sent: Sending;
  readonly status: RawStatus | undefined;
  /** With the name of the server where it did. */
  readonly arrived: readonly { readonly name: string; readonly request: RequestBytes }[];
  /** A server may read its body as MCP. */
  readonly isChecked: boolean;
};

/** Answers of the gateway's own: refusals, and those for calls of a tool that the role may not use. */
const OWN = [200, 202, 400, 404, 413, 415, "closed"];

/** What is wrong with what a request came to. */
function problemsOf({ sent, status, arrived, isChecked }: Outcome): unknown[] {
  const [first, ...others] = arrived;
  const told = (problem: string) => ({
    problem,
    status,
    path: sent.path,
    body: sent.body.bytes.toString(),
    arrived: first?.request.body.toString(),
  });
  if (first === undefined) return status !== undefined && OWN.includes(status) ? [] : [told("it is answered by nobody")];
  const { name, request } = first;
  const role = (sent.roles[0] ?? "").trim() || "default";
  const named = request.fields.filter(([field]) => field === "agentenv-role").map(([, value]) => value);
  return [
    ...(others.length === 0 && name === sent.server.name ? [] : [told("it arrived more than once, or elsewhere")]),
    ...(status === 200 ? [] : [told("it arrived, and the answer did not")]),
    ...(named.length === 1 && named[0] === role ? [] : [told(`its role header says ${JSON.stringify(named)}`)]),
    ...(isChecked || request.body.equals(sent.body.bytes) ? [] : [told("its bytes were changed")]),
    ...(isChecked ? problemsOfMcp(request, role).map(told) : []),
  ];
}

/** What is wrong with a request that a server may read as MCP of a caller of that role. */
function problemsOfMcp({ fields, body }: RequestBytes, role: string): string[] {
  const text = body.toString();
  const types = fields.filter(([name]) => name === "content-type" || name === "content-encoding").map(([, value]) => value);
  const value: unknown = JSON.parse(text);
  const messages: unknown[] = Array.isArray(value) ? value : [value];
  return [
    ...(types.join() === "application/json" ? [] : [`its type is ${JSON.stringify(types)}`]),
    ...(JSON.stringify(value) === text ? [] : ["it is not written anew"]),
    ...(text.includes(FORGED) ? ["it holds the forged claim"] : []),
    ...messages.flatMap((message) => (isJsonObject(message) ? problemsOfMessage(message, role) : ["it holds what is no object"])),
  ];
}

function problemsOfMessage({ method, params }: JsonObject, role: string): string[] {
  if (!isJsonObject(params) || !isJsonObject(params["_meta"])) return ["it has no _meta"];
  const { _meta: meta } = params;
  if (!isJsonObject(meta)) return ["its _meta is no object"];
  return [
    ...(meta[ROLE_META_KEY] === role ? [] : [`its role is ${JSON.stringify(meta[ROLE_META_KEY])}`]),
    ...(SESSION_META_KEY in meta ? ["it names a session"] : []),
    ...(meta["progressToken"] === KEPT.progressToken ? [] : ["it has lost its token"]),
    ...(method === "tools/call" && params["name"] === "secret" ? ["it calls a tool that is hidden"] : []),
  ];
}
