import { expect, test } from "vitest";
import { mayRepeat, mayUse } from "./catalogue.ts";
import { nameTable, qualifiedName } from "./names.ts";

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more });
const source = (name: string, ...tools: string[]) => ({ name, items: tools.map((each) => tool(each)) });

test("V22 of a clash the first source keeps the name, everything else stays", () => {
  const { entries, clashes, byName } = nameTable([
    source("items", "find", "add"),
    source("stock", "find", "count"),
    source("shop", "find"),
  ]);
  expect(entries.map(({ source, name }) => [source, name])).toEqual([
    ["items", "find"],
    ["items", "add"],
    ["stock", "count"],
  ]);
  expect([...clashes]).toEqual([["find", ["items", "stock", "shop"]]]);
  expect(byName.get("stock__find")?.source).toBe("stock");
});

test("F21 another server renames nothing", () => {
  const before = nameTable([source("a", "x", "y")]).entries.map(({ name }) => name);
  const after = nameTable([source("a", "x", "y"), source("b", "z", "x")]).entries.map(({ name }) => name);
  expect(after.slice(0, 2)).toEqual(before);
});

test("where a plain name is another tool's qualified form, the qualified reading wins and the plain one is reported", () => {
  const { byName, clashes, entries } = nameTable([source("a", "b__x"), source("b", "x")]);
  expect([byName.get("b__x")?.source, [...clashes]]).toEqual(["b", [["b__x", ["b", "a"]]]]);
  expect(entries.map(({ name }) => name)).toEqual(["x"]);
});

test("a name that one server lists twice is no clash", () => {
  const { entries, clashes } = nameTable([source("a", "x", "x")]);
  expect([entries.length, clashes.size]).toEqual([1, 0]);
});

test("F22 a qualified name has at most 64 characters, and is the same whatever else is served", () => {
  expect(qualifiedName("crm", "x".repeat(59))).toBe(`crm__${"x".repeat(59)}`);
  const long = qualifiedName("crm", "x".repeat(60));
  expect(long).toMatch(/^crm__x{50}_[0-9a-f]{8}$/);
  const { byName } = nameTable([source("a", "y"), source("crm", "x".repeat(60))], "qualified");
  expect(byName.get(long)?.name).toBe("x".repeat(60));
});

test("a rule on a plain name covers every tool of it, one on a qualified name that tool alone", () => {
  const { byName } = nameTable([source("a", "find"), source("b", "find")]);
  const may = (rules: Record<string, boolean>, name: string) => {
    const entry = byName.get(name);
    return entry !== undefined && mayUse(new Map([["alice", new Map(Object.entries(rules))]]), "alice", entry);
  };
  expect([may({ find: false }, "a__find"), may({ find: false }, "b__find")]).toEqual([false, false]);
  expect([may({ b__find: false }, "find"), may({ b__find: false }, "b__find")]).toEqual([true, false]);
  expect(may({ find: false, b__find: true }, "b__find")).toBe(true);
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
