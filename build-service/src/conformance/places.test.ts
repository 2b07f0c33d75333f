import { Card } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { mcpPlace } from "./mcp-reading.ts";
import { serviceAddress, serviceOfPage, servicesOf } from "./services.ts";

const cardWith = (...urls: string[]) =>
  Card.parse({ name: "shop", capabilities: {}, additionalInterfaces: urls.map((url) => ({ url, transport: "mcp" })) });

describe("W5 where a card puts MCP", () => {
  const base = "https://host/d/x/svc/shop";
  test.each([
    [["/mcp"], { is: "here", path: "/mcp" }],
    [["mcp"], { is: "here", path: "/mcp" }],
    [["./mcp"], { is: "here", path: "/mcp" }],
    [["/mcp/"], { is: "here", path: "/mcp/" }],
    [["", "/tools?a=1"], { is: "here", path: "/tools?a=1" }],
    [["https://host/d/x/svc/shop/mcp"], { is: "here", path: "/mcp" }],
    [["https://host/mcp"], { is: "elsewhere", url: "https://host/mcp" }],
    [["http://host/d/x/svc/shop/mcp"], { is: "elsewhere", url: "http://host/d/x/svc/shop/mcp" }],
    [["//other/mcp"], { is: "elsewhere", url: "//other/mcp" }],
    [["\\\\other\\mcp"], { is: "elsewhere", url: "\\\\other\\mcp" }],
    [["../notes/mcp"], { is: "elsewhere", url: "../notes/mcp" }],
    [["file:///etc/passwd"], { is: "elsewhere", url: "file:///etc/passwd" }],
    [[], { is: "none" }],
  ])("%j", (urls, place) => {
    expect(mcpPlace(cardWith(...urls), base)).toEqual(place);
  });
});

test.each([
  ["http://h:1/svc/shop", { gateway: "http://h:1", key: "shop" }],
  ["https://h/d/x/svc/mcp-items/", { gateway: "https://h/d/x", key: "mcp-items" }],
  ["https://h/svc", null],
  ["https://h/svc/shop/mcp", null],
  ["https://h/", null],
])("%s is a server behind a gateway: %j", (base, address) => {
  expect(serviceAddress(base)).toEqual(address);
});

test.each([
  ["http://h:1/website/shop", "http://h:1/svc/shop"],
  ["https://h/d/x/website/shop/cart/website/y", "https://h/d/x/svc/shop"],
  ["https://h/website", null],
  ["https://h/svc/shop", null],
  ["https://h/", null],
])("%s is a page of what is checked at %j", (base, service) => {
  expect(serviceOfPage(base)).toBe(service);
});

test("a gateway's servers are those whose data plane its card puts under /svc", () => {
  const child = (name: string, url: string) => ({ name, url, capabilities: {} });
  const children_environments = [child("items", "/svc/mcp-items/agentenv"), child("far", "https://x/agentenv"), 5];
  expect(servicesOf(Card.parse({ name: "demo", capabilities: {}, children_environments }))).toEqual([{ key: "mcp-items", name: "items" }]);
});
