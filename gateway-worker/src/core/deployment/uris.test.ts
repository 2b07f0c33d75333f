import { expect, test } from "vitest";
import { matchesTemplate, serverPrefix, uriTable } from "./uris.ts";

test("F25 of two servers with one URI the first has it", () => {
  const { byUri, clashes, entries } = uriTable(
    [
      { name: "a", items: [{ uri: "x://1" }, { uri: "x://2" }] },
      { name: "b", items: [{ uri: "x://2" }, { uri: "x://3" }] },
    ],
    "uri",
  );
  expect(entries.map(({ source, uri }) => [source, uri])).toEqual([
    ["a", "x://1"],
    ["a", "x://2"],
    ["b", "x://3"],
  ]);
  expect([byUri.get("x://2")?.source, [...clashes]]).toEqual(["a", [["x://2", ["a", "b"]]]]);
});

test("a server's name becomes part of a legal scheme", () => {
  expect([serverPrefix("crm"), serverPrefix("My_ü"), serverPrefix("a-b.c")]).toEqual(["env-crm+", "env-.4dy.5f.c3.bc+", "env-a-b.2ec+"]);
});

test.each([
  ["test://template/{id}/data", "test://template/7/data", true],
  ["test://template/{id}/data", "test://template/7/8/data", false],
  ["file:///{+path}", "file:///a/b/c.txt", true],
  ["file:///{path}", "file:///a/b", false],
  ["x://find{?q,limit}", "x://find?q=1", true],
  ["x://find{?q,limit}", "x://find", true],
  ["x://a.b/{id}", "x://aXb/1", false],
])("%s and %s: %s", (template, uri, isMatch) => {
  expect(matchesTemplate(template, uri)).toBe(isMatch);
});
