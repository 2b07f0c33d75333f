import { describe, expect, test } from "vitest";
import { applyRule, isAllowed, namedRole, type RoleRule, type RoleRules, roleFromHeader, shownRules } from "./roles.ts";

const rulesOf = (...rules: [role: string, tool: string, enabled: boolean][]): RoleRules =>
  rules.map(([role, tool, enabled]): RoleRule => ({ role, tool, enabled })).reduce(applyRule, new Map() as RoleRules);
const may = (rules: RoleRules, role: string, name: string, hidden = false) => isAllowed(rules, role, { name, hidden });

test("a role header is trimmed, and blank or missing means default", () => {
  expect([" bob ", "", "  ", undefined, null].map(roleFromHeader)).toEqual(["bob", "default", "default", "default", "default"]);
});

test("to a tool default, blank and no string are no role", () => {
  expect([" bob ", "default", " ", 7, null].map(namedRole)).toEqual(["bob", null, null, null, null]);
});

describe("which rule counts", () => {
  test("V27 all forbidden to all but one tool to one role", () => {
    const rules = rulesOf(["*", "*", false], ["alice", "items_add", true]);
    expect([may(rules, "alice", "items_add"), may(rules, "alice", "x"), may(rules, "bob", "items_add")]).toEqual([true, false, false]);
  });

  test("V28 the order of a role's * and everybody's tool decides", () => {
    expect(may(rulesOf(["*", "items_add", false], ["alice", "*", true]), "alice", "items_add")).toBe(true);
    expect(may(rulesOf(["alice", "*", true], ["*", "items_add", false]), "alice", "items_add")).toBe(false);
  });

  test("V29 a hidden tool is shown only by a rule that names it", () => {
    expect(may(rulesOf(["*", "*", true]), "alice", "secret", true)).toBe(false);
    expect(may(rulesOf(["alice", "*", true]), "alice", "secret", true)).toBe(false);
    const named = rulesOf(["alice", "secret", true]);
    expect([may(named, "alice", "secret", true), may(named, "bob", "secret", true)]).toEqual([true, false]);
    expect(may(applyRule(named, { role: "alice", tool: "*", enabled: false }), "alice", "secret", true)).toBe(false);
  });

  test("a role named as a property of objects is a role like any other", () => {
    expect(may(rulesOf(["__proto__", "constructor", false]), "__proto__", "constructor")).toBe(false);
    expect(may(rulesOf(["a", "x", false]), "__proto__", "constructor")).toBe(true);
  });
});

test("a role's rules are shown sorted, and * / * forgets the others", () => {
  const rules = rulesOf(["alice", "b", false], ["alice", "a", false], ["alice", "c", true]);
  expect(shownRules(rules.get("alice"))).toEqual({ disabled: ["a", "b"], allowed: ["c"] });
  expect([...applyRule(rules, { role: "*", tool: "*", enabled: true }).keys()]).toEqual(["*"]);
});
