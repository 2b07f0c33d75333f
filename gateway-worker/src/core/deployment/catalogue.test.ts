import { expect, test } from "vitest";
import { catalogueOf, mayRepeat } from "./catalogue.ts";

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more });
const source = (name: string, ...tools: string[]) => ({ name, tools: tools.map((each) => tool(each)) });

test("V22 of a clash the first source keeps the name, everything else stays", () => {
  const { entries, clashes, byName } = catalogueOf([
    source("items", "find", "add"),
    source("stock", "find", "count"),
    source("shop", "find"),
  ]);
  expect(entries.map(({ source, tool }) => [source, tool.name])).toEqual([
    ["items", "find"],
    ["items", "add"],
    ["stock", "count"],
  ]);
  expect([...clashes]).toEqual([["find", ["items", "stock", "shop"]]]);
  expect(byName.get("stock__find")?.source).toBe("stock");
});

test("F21 another server renames nothing", () => {
  const before = catalogueOf([source("a", "x", "y")]).entries.map(({ tool }) => tool.name);
  const after = catalogueOf([source("a", "x", "y"), source("b", "z", "x")]).entries.map(({ tool }) => tool.name);
  expect(after.slice(0, 2)).toEqual(before);
});

test("where a plain name is another tool's qualified form, the qualified reading wins and the plain one is reported", () => {
  const { byName, clashes } = catalogueOf([source("a", "b__x"), source("b", "x")]);
  expect([byName.get("b__x")?.source, [...clashes]]).toEqual(["b", [["b__x", ["b", "a"]]]]);
});

test("a name that one server lists twice is no clash", () => {
  const { entries, clashes } = catalogueOf([source("a", "x", "x")]);
  expect([entries.length, clashes.size]).toEqual([1, 0]);
});

test("only a tool that says so may be called twice", () => {
  const hinted = (annotations: object) => mayRepeat(tool("t", { annotations }));
  expect([
    mayRepeat(tool("t")),
    hinted({}),
    hinted({ readOnlyHint: true }),
    hinted({ idempotentHint: true }),
    hinted({ readOnlyHint: "yes" }),
  ]).toEqual([false, false, true, true, false]);
});
