import { describe, expect, test } from "vitest";
import { uriTemplate } from "./uri-template.ts";

describe("a URI that a template makes is read back", () => {
  test.each([
    ["items://{id}", "items://tea", { id: "tea" }],
    ["items://{id}", "items://a%2Fb%20c", { id: "a/b c" }],
    ["items://{id}", "items://a/b", undefined],
    ["items://{id}", "items://", undefined],
    ["items://{id}", "items://a?q=1", undefined],
    ["items://{id}", "items://%zz", undefined],
    ["file:///{+path}", "file:///a/b.txt", { path: "a/b.txt" }],
    ["items://{shelf}/{id}.json?v={v}", "items://top/tea.json?v=2", { shelf: "top", id: "tea", v: "2" }],
    ["items://{shelf}/{id}.json?v={v}", "items://top/teaXjson?v=2", undefined],
    ["items://a+b/{id}", "items://a+b/c", { id: "c" }],
  ])("%s of %s", (template, uri, variables) => {
    expect(uriTemplate(template).read(uri)).toEqual(variables);
  });
});

test.each([
  "items://all",
  "{id}",
  "/items/{id}",
  "items://{id}/{id}",
  "items://{id*}",
  "items://{?q}",
  "items://{}",
  "items://{id",
  "items://id}",
])("%s is refused", (template) => {
  expect(() => uriTemplate(template)).toThrow(
    expect.objectContaining({
      message: `resource template ${JSON.stringify(template)} can't be read`,
      why: "a template is a URI with a scheme, and at least one {name} or {+name}, each name once",
      next: 'write for example "items://{id}/history"',
    }),
  );
});
