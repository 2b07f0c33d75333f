import { describe, expect, test } from "vitest";
import { askableIn, keptCapabilities } from "./capabilities.ts";

const TASKS = { "io.modelcontextprotocol/tasks": {} };
const OTHER = { "example.com/other": { more: "x".repeat(200) } };

describe("what of a client's capabilities is kept", () => {
  test("all of them, or where they are long what it can be asked for, and whether it takes tasks", () => {
    const short = { roots: { listChanged: true }, extensions: TASKS };
    expect(keptCapabilities(short)).toEqual(short);
    expect(keptCapabilities({ ...short, extensions: { ...TASKS, ...OTHER } })).toEqual(short);
    expect(keptCapabilities({ roots: {}, experimental: OTHER })).toEqual({ roots: {} });
    expect(keptCapabilities(null)).toEqual({});
  });
});

describe("what a legacy client can be asked for", () => {
  test("elicitation since 2025-06-18, by URL since 2025-11-25", () => {
    const declared = { sampling: {}, elicitation: { form: {}, url: {} } };
    expect(askableIn("2025-11-25", declared)).toEqual(declared);
    expect(askableIn("2025-06-18", declared)).toEqual({ sampling: {}, elicitation: {} });
    expect(askableIn("2025-03-26", declared)).toEqual({ sampling: {} });
  });

  test("never for a modern server's tasks, whose results it couldn't read", () => {
    expect(askableIn("2025-11-25", { roots: {}, extensions: { ...TASKS, ...OTHER } })).toEqual({ roots: {}, extensions: OTHER });
  });
});
