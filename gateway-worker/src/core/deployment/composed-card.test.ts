import { describe, expect, test } from "vitest";
import { childCard, composedCard, type GatewayExtension } from "./composed-card.ts";

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
  expect(composedCard("demo", [])).toEqual({
    name: "demo",
    protocolVersion: "1.0",
    url: "/agentenv",
    preferredTransport: "JSONRPC",
    additionalInterfaces: [{ url: "/mcp", transport: "mcp" }],
    capabilities: {
      extensions: [
        {
          uri: "urn:agentenv:state/v1",
          description: "All servers with their tools, the roles' rules, and what is wrong.",
          params: { endpoint: "/state", methods: { get: { method: "GET", endpoint: "/state" } } },
          required: false,
        },
      ],
    },
    children_environments: [],
  });
});
