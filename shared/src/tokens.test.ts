import { expect, test } from "vitest";
import { holds, isScope, PRESETS, type Scope, TokenClaims, tokenRoleProblem } from "./tokens.ts";

test("N4 each preset holds exactly the scopes of its kind of caller", () => {
  expect(PRESETS).toEqual({
    agent: ["tools", "sites"],
    grader: ["tools", "sites", "svc", "read"],
    orchestrator: ["tools", "sites", "svc", "read", "control", "act-as"],
  });
});

test.each<[readonly Scope[], Scope, boolean]>([
  [["svc"], "svc:shop", true],
  [["svc:shop"], "svc:shop", true],
  [["svc:shop"], "svc:shop2", false],
  [["svc:shop"], "svc:mcp-shop", false],
  [["svc:shop"], "svc", false],
  [["tools"], "control", false],
  [["read", "control"], "control", true],
])("N4 %j holds %s: %s", (scopes, needed, expected) => {
  expect(holds(scopes, needed)).toBe(expected);
});

test("N4 what is no scope gives no right", () => {
  const read = TokenClaims.parse({ sub: "a", role: "default", scope: "tools  admin CONTROL svc: svc:x", exp: 1 });
  expect([read.scope, isScope("svc:"), isScope("Tools")]).toEqual([["tools", "svc:x"], false, false]);
});

test.each(["", " ", " a", "a ", "a,b", "a\r\nx: y", "é", "a".repeat(201), "a\u0000"])("N4 %j is no role of a token", (role) => {
  expect(tokenRoleProblem(role)).toBe("it has to be 1 to 200 visible ASCII characters without a comma");
});
