import { describe, expect, test } from "vitest";
import { scanTypeScript } from "./typescript.ts";

function names(source: string, path = "server.ts"): (string | null)[] {
  const scan = scanTypeScript(path, source);
  if ("error" in scan) throw new Error(scan.error);
  return scan.findings.map(({ name }) => name);
}

describe("B3.2 a call of environmentCard names the environment", () => {
  test.each([
    ['environmentCard({ name: "a" })'],
    ['export const card = environmentCard({ version: "1", name: "a", tools: [] });'],
    ['class A { static card = environmentCard({ name: "a" }); }'],
    ['@card(environmentCard({ name: "a" })) class A {}'],
    ['sdk.environmentCard({ name: "a" })'],
    ['sdk?.environmentCard?.({ name: "a" })'],
    ['environmentCard?.({ name: "a" })'],
    ['(environmentCard)(({ name: "a" }))'],
    ['environmentCard<Card>({ name: "a" } as Card)'],
    ['environmentCard({ name: "a" } satisfies Card)'],
    ['environmentCard({ name: "a" }!)'],
    ['environmentCard(<Card>{ name: ("a" as const) })'],
    ["environmentCard({ name: `a` as const })"],
    ["environmentCard({ \"name\": 'a' })"],
    ['environmentCard({ name: "b", name: "a" })'],
    ['environmentCard({ ...base, name: "a" })'],
    ['environmentCard({ name: "\\x61" })'],
    ['import { environmentCard as card } from "x"; card({ name: "a" })'],
    ['import { "environmentCard" as card } from "x"; card({ name: "a" })'],
    ['\ufeffenvironmentCard({ name: "a" })'],
  ])("%s", (source) => {
    expect(names(source)).toEqual(["a"]);
  });

  test.each([
    ['new environmentCard({ name: "a" })'],
    ["environmentCard`a`"],
    ['const card = environmentCard; card({ name: "a" })'],
    ['wrap(environmentCard, { name: "a" })'],
    ['cards["environmentCard"]({ name: "a" })'],
    ['environmentCard({ name: "" })'],
    ['environmentCard({ title: "a" })'],
    ["environmentCard()"],
    ['// environmentCard({ name: "a" })'],
    ["const s = 'environmentCard({ name: \"a\" })'"],
    ['import { other as card } from "x"; card({ name: "a" })'],
  ])("but not: %s", (source) => {
    expect(names(source)).toEqual([]);
  });

  test.each([
    ['environmentCard({ ["name"]: "a" })'],
    ["environmentCard({ name })"],
    ['environmentCard({ get name() { return "a"; } })'],
    ['environmentCard({ name() { return "a"; } })'],
    ['environmentCard({ name: "a", ...more })'],
    ['environmentCard({ name: "a" + "b" })'],
    [`environmentCard({ name: \`a\${b}\` })`],
    ["environmentCard({ name: NAME })"],
    ["environmentCard({ name: name() })"],
    ['environmentCard({ name: x ? "a" : "b" })'],
    ["environmentCard({ name: 1 })"],
    ["environmentCard(card)"],
  ])("a name that is no literal is told apart: %s", (source) => {
    expect(names(source)).toEqual([null]);
  });

  test("JSX text is text", () => {
    expect(names('const x = <b>environmentCard(&#123; name: "a" &#125;)</b>; environmentCard({ name: "b" })', "page.tsx")).toEqual(["b"]);
    expect(names('const x = <b>text</b>; environmentCard({ name: "b" })', "page.js")).toEqual(["b"]);
  });

  test("each card has its line", () => {
    expect(scanTypeScript("a.ts", '\n\nenvironmentCard({ name: "a" })')).toEqual({ findings: [{ line: 3, name: "a" }] });
  });

  test("a source that doesn't parse says where", () => {
    expect(scanTypeScript("a.ts", 'environmentCard({ name: "a" });\nconst x = ;')).toEqual({ error: "line 2: Unexpected token" });
  });

  test("an expression deeper than the stack is read", () => {
    expect(names(`environmentCard({ name: "a" }); x = ${"1+".repeat(2_000)}1`)).toEqual(["a"]);
  });
});
