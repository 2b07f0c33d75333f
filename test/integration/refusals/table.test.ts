import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PROBLEM_CODES } from "@agent-env/protocol";
import { expect, test } from "vitest";
import { CHECKED, PLUGIN, RUN, STORE } from "./cases.ts";

const SOURCES = fileURLToPath(new URL("../../../build-service/src/", import.meta.url));
const LINES = [...CHECKED.flatMap(({ cases }) => cases), ...PLUGIN, ...STORE, ...RUN].map(({ lines }) => lines);

/**
 * Codes that a case below has, with those of `place.test.ts` and `run/preflight.test.ts`, which need more than a folder, and of
 * `check-site/act-script.test.ts`, which are no bundle's.
 */
const covered = new Set([
  ...LINES.flat().map((line) => line.slice(0, line.indexOf(" "))),
  "no-folder",
  "id-root",
  "deploy-image",
  "deploy-infra",
  "deploy-website",
  "act-script",
]);

test("B5 the table has every code that the product can give", () => {
  const sources = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
    .map((path) => readFileSync(join(SOURCES, path), "utf8"))
    .join("\n");
  const given = (code: string) => new RegExp(`code: "${code}"|(?:problem|refuse|refused)\\((?:\\w+, )?"${code}"`).test(sources);
  const codes = Object.values(PROBLEM_CODES).flat();
  expect(codes.filter(given).length).toBeGreaterThan(80);
  expect(codes.filter((code) => given(code) && !covered.has(code))).toEqual([]);
});

test("B5 the table has cases alone and together", () => {
  expect(LINES.length).toBeGreaterThanOrEqual(120);
  expect(LINES.filter((lines) => lines.length === 1).length).toBeGreaterThan(40);
  expect(LINES.filter((lines) => lines.length === 2).length).toBeGreaterThan(30);
  expect(LINES.filter((lines) => lines.length >= 3).length).toBeGreaterThan(30);
});

test("B5 each problem is one line of plain text, told once, sorted by what is shown", () => {
  for (const lines of LINES) {
    const shown = lines.map((line) => line.slice(line.indexOf(" ") + 1));
    expect(shown).toEqual([...new Set(shown)]);
    expect(shown.join("\n")).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  }
});
