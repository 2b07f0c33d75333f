import { describe, expect, test } from "vitest";
import { childCard, composedCard } from "./composed-card.ts";
import { GATEWAY_EXTENSIONS, type GatewayExtension } from "./gateway-extensions.ts";

const DISABLE: GatewayExtension = {
  uri: "urn:agentenv:disable-tool/v1",
  description: "",
  params: { endpoint: "/tools/disable", methods: { disable: { method: "POST" } } },
};
const child = (raw: Record<string, unknown>, own: readonly GatewayExtension[] = []) =>
  childCard({ key: "mcp-items", raw, origins: ["http://items:18765"] }, own);
const extension = (uri: string, params: unknown) => ({ capabilities: { extensions: [{ uri, params }] } });
const rewritten = (uri: string, params: unknown, own: readonly GatewayExtension[] = [DISABLE]) =>
  (child(extension(uri, params), own)["capabilities"] as { extensions: { params: unknown }[] }).extensions[0]?.params;

describe("V43 a child's addresses lead through /svc", () => {
  test.each([
    ["/agentenv/", "/svc/mcp-items/agentenv"],
    ["/agentenv", "/svc/mcp-items/agentenv"],
    ["agentenv", "/svc/mcp-items/agentenv"],
    ["http://items:18765/agentenv", "/svc/mcp-items/agentenv"],
    ["https://x/y", "https://x/y"],
  ])("url %s", (url, shown) => {
    expect(child({ url })["url"]).toBe(shown);
  });

  test("endpoints of extensions and their methods, relative ones too", () => {
    expect(rewritten("urn:x", { endpoint: "ext/a", methods: { b: { endpoint: "/ext/b" }, c: { method: "GET" } }, more: 1 })).toEqual({
      endpoint: "/svc/mcp-items/ext/a",
      methods: { b: { endpoint: "/svc/mcp-items/ext/b" }, c: { method: "GET" } },
      more: 1,
    });
  });
});

describe("V44 what the gateway itself offers keeps its path", () => {
  test("the same method at the same endpoint", () => {
    const params = { endpoint: "/tools/disable", methods: { disable: { method: "POST", request: {} } } };
    expect(rewritten(DISABLE.uri, params)).toEqual(params);
  });

  test("another method of it without an endpoint gets a prefixed one of its own", () => {
    expect(
      rewritten(DISABLE.uri, { endpoint: "/tools/disable", methods: { disable: { method: "POST" }, list: { method: "GET" } } }),
    ).toEqual({
      endpoint: "/tools/disable",
      methods: { disable: { method: "POST" }, list: { method: "GET", endpoint: "/svc/mcp-items/tools/disable" } },
    });
  });

  test("the same path with PUT is the child's", () => {
    expect(rewritten(DISABLE.uri, { endpoint: "/tools/disable", methods: { disable: { method: "PUT" } } })).toEqual({
      endpoint: "/svc/mcp-items/tools/disable",
      methods: { disable: { method: "PUT" } },
    });
  });
});

test("unknown keys, tools, operations and nulls stay; interfaces and children don't", () => {
  expect(
    child({
      name: "items",
      future: [1],
      additionalInterfaces: [{ url: "/mcp", transport: "mcp" }],
      capabilities: { tools: [{ name: "t" }], operations: ["data/get"], extensions: null, x: 1 },
      children_environments: [{}],
    }),
  ).toEqual({
    name: "items",
    future: [1],
    url: "/svc/mcp-items/agentenv",
    additionalInterfaces: [],
    capabilities: { tools: [{ name: "t" }], operations: ["data/get"], extensions: null, x: 1 },
    children_environments: null,
  });
});

test("the gateway's card offers the extensions whose routes it serves", () => {
  expect(composedCard("demo", [], [DISABLE])).toEqual({
    name: "demo",
    protocolVersion: "1.0",
    url: "/agentenv",
    preferredTransport: "JSONRPC",
    additionalInterfaces: [{ url: "/mcp", transport: "mcp" }],
    capabilities: { extensions: [{ ...DISABLE, required: false }] },
    children_environments: [],
  });
  const routes = GATEWAY_EXTENSIONS.map(({ uri, params }) => [
    uri,
    ...Object.entries(params.methods).map(([name, { method, endpoint = params.endpoint }]) => `${name} ${method} ${endpoint}`),
  ]);
  expect(routes).toEqual([
    ["urn:agentenv:disable-tool/v1", "disable POST /tools/disable"],
    ["urn:agentenv:enable-tool/v1", "enable POST /tools/enable"],
    [
      "urn:agentenv:triggers/v1",
      "register POST /triggers/register",
      "remove POST /triggers/remove",
      "clear POST /triggers/clear",
      "state GET /triggers/state",
    ],
    [
      "urn:agentenv:clock/v1",
      "get_time GET /clock/time",
      "set_time PUT /clock/set-time",
      "clear POST /clock/clear",
      "state GET /clock/state",
    ],
    ["urn:agentenv:trajectory/v1", "get GET /trajectory"],
    ["urn:agentenv:step/v1", "step POST /step"],
    ["urn:agentenv:state/v1", "get GET /state"],
    ["urn:agentenv:changes/v1", "get GET /changes"],
  ]);
});
