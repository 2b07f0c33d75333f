import { describe, expect, test } from "vitest";
import { cardPaths, joined, pathOnServer, reach, withoutEnd } from "./paths.ts";

const ORIGINS = ["http://shop-website-backend:8000", "http://shop-website-frontend"];
const MCP = cardPaths("mcp", ORIGINS);

describe("W3.1 a URL on a card", () => {
  test.each([
    "mcp",
    "./mcp",
    "/mcp",
    "/mcp/",
    "mcp?x#y",
    "x/../mcp",
    "/MCP",
    "m%63p",
    "http://shop-website-backend:8000/mcp",
    "//shop-website-frontend/mcp",
    "ws://shop-website-frontend/mcp",
  ])("%s reserves /mcp", (url) => {
    expect(reach("/mcp", cardPaths(url, ORIGINS))).toBe("inside");
    expect(reach("/mcp/under", cardPaths(url, ORIGINS))).toBe("inside");
    expect(reach("/mcpx", cardPaths(url, ORIGINS))).toBe("clear");
  });

  test.each(["https://elsewhere.example/mcp", "//elsewhere.example/mcp", "mailto:x", "http://"])(
    "%s reserves nothing: it is on another origin",
    (url) => {
      expect(cardPaths(url, ORIGINS)).toEqual([]);
    },
  );

  test("that comes out as / reserves / alone", () => {
    expect(reach("/", cardPaths("/", ORIGINS))).toBe("inside");
    expect(reach("//", cardPaths(".", ORIGINS))).toBe("inside");
    expect(reach("/x", cardPaths("/", ORIGINS))).toBe("clear");
  });

  test("keeps its path as it is for whoever calls it", () => {
    expect(pathOnServer("Tools/a%2Fb?x", ORIGINS)).toBe("/Tools/a%2Fb");
    expect(pathOnServer("http://shop-website-backend:8000/a/mcp", ORIGINS)).toBe("/a/mcp");
  });
});

describe("W3.2 a request path", () => {
  test.each([
    "/mcp",
    "/MCP",
    "/%6dcp",
    "/%256dcp",
    "/%25256dcp",
    "//mcp",
    "/mcp;v=1",
    "/mcp.",
    "/mcp%20",
    "/mcp%20.",
    "/mcp/x",
    "/%6Dcp%2Fx",
    "/\u{ff4d}cp",
    "/m%C2%ADcp",
    "/;a/mcp",
    "/%5cmcp",
    "/K".replace("K", "mcp"),
  ])("%s reaches /mcp", (path) => {
    expect(reach(path, MCP)).toBe("inside");
  });

  test.each(["/mcpx", "/a%2Fmcp", "/x/mcp", "/mcp%3Fx", "/m/cp", "/%e2%82%ac"])("%s doesn't", (path) => {
    expect(reach(path, MCP)).toBe("clear");
  });

  test.each(["/x%2f..%2fmcp", "/x/..;/y", "/a%00b", "/a%0d", "/%2e%2e%2fx", `/%${"25".repeat(6)}41`, "/..%20/x"])(
    "%s has no single reading",
    (path) => {
      expect(reach(path, MCP)).toBe("unsafe");
    },
  );

  test("that is still changing after five decodings is unsafe, one that has stopped is not", () => {
    expect(reach(`/%${"25".repeat(4)}41`, MCP)).toBe("clear");
    expect(reach(`/%${"25".repeat(5)}41`, MCP)).toBe("unsafe");
  });
});

test("a long row of what is dropped at an end costs time by its length", () => {
  const began = performance.now();
  for (const row of [".", "%20", "%2e%20", "%2525252e"]) expect(reach(`/mcp/${row.repeat(60_000)}x`, MCP)).toBe("inside");
  expect(withoutEnd(`${"/".repeat(200_000)}x//`, (char) => char === "/").length).toBe(200_001);
  expect(performance.now() - began).toBeLessThan(3_000);
});

test("joining keeps a base's own path, and resolves nothing", () => {
  expect([
    joined("https://h/d/x/", "/mcp"),
    joined("https://h/d/x", "tools"),
    joined("http://h", "//x"),
    joined("http://h/", "/../x"),
  ]).toEqual(["https://h/d/x/mcp", "https://h/d/x/tools", "http://h//x", "http://h/../x"]);
});
