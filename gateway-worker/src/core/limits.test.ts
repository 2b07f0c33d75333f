import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { LIMITS, type Limit } from "./limits.ts";
import { Questions } from "./mcp/questions.ts";
import { settingsFrom } from "./settings.ts";

const all: readonly (readonly [string, Limit])[] = Object.entries(LIMITS);

test("G9 docs/gateway-limits.md has the table of the limits in force", () => {
  const page = readFileSync(new URL("../../../docs/gateway-limits.md", import.meta.url), "utf8");
  const rows = page.split("\n").filter((line) => line.startsWith("| `GATEWAY_"));
  expect(rows).toEqual(
    all.map(([, limit]) => `| \`${limit.variable}\` | ${[limit.default, limit.unit].join(" ").trim()} | ${limit.of} | ${limit.over} |`),
  );
});

describe("G9 a limit", () => {
  test.each(all)("%s is set by its variable, and has its default without", (name, { variable, unit, default: fallback }) => {
    const scale = unit === "s" ? 1000 : 1;
    expect(settingsFrom({})).toHaveProperty(name, fallback * scale);
    expect(settingsFrom({ [variable]: " 7 " })).toHaveProperty(name, 7 * scale);
  });

  test("that is no number in its unit is refused, naming the variable", () => {
    for (const text of ["0", "-1", "1.5", "x", "Infinity"])
      expect(() => settingsFrom({ GATEWAY_MAX_STREAMS: text })).toThrow(
        expect.objectContaining({
          message: `GATEWAY_MAX_STREAMS: ${JSON.stringify(text)}`,
          why: "it is not a positive whole number",
          next: "leave it out for 5000",
        }),
      );
    expect(settingsFrom({ GATEWAY_PROXY_IDLE_S: "0.5" }).proxyIdleMs).toBe(500);
    expect(() => settingsFrom({ GATEWAY_PROXY_IDLE_S: "0" })).toThrow(
      expect.objectContaining({ why: "it is not a positive number", next: "leave it out for 3600" }),
    );
  });

  test("of questions holds for those that legacy clients are asked", async () => {
    const limits = { inputWaitMs: 1_000, maxQuestions: 1 };
    const questions = new Questions(limits);
    const asked: unknown[] = [];
    const first = questions.ask("s", { id: 1 }, (question) => asked.push(question) > 0);
    expect(await questions.ask("s", { id: 2 }, () => true)).toEqual({
      jsonrpc: "2.0",
      id: 2,
      error: { code: -32603, message: "too many questions are waiting for clients" },
    });
    expect(asked.length).toBe(1);
    expect(await first).toHaveProperty("error.message", "the client did not answer within 1s");
  });
});
