import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { caseFold, foldName } from "./fold.ts";

/** Every assigned code point whose folding isn't itself, by Python's own tables, and those that Python knows at all. */
const PYTHON = `
import json, unicodedata
known = [c for c in range(0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Cs")]
print(json.dumps({"known": known, "folds": {c: chr(c).casefold() for c in known if chr(c).casefold() != chr(c)}}))
`;

const python = spawnSync("python3", ["-c", PYTHON], { encoding: "utf8", maxBuffer: 1 << 26 });

describe("case folding", () => {
  test.each([
    ["Straße", "STRASSE"],
    ["ΣΊΣΥΦΟΣ", "σίσυφος"],
    ["ﬁle", "FILE"],
    ["İ", "i̇"],
    ["Ꮳ", "ꮳ"],
  ])("%s and %s are one name", (a, b) => {
    expect(foldName(a)).toBe(foldName(b));
  });

  test("a dotless i is not an i", () => {
    expect(caseFold("ı")).toBe("ı");
  });

  test("composed and decomposed letters are one name", () => {
    expect(foldName("É")).toBe(foldName("e\u0301"));
  });

  test.skipIf(python.status !== 0)("agrees with Python's casefold on every code point that it knows (needs python3)", () => {
    const { known, folds } = JSON.parse(python.stdout) as { known: number[]; folds: Record<string, string> };
    const different = known.filter((point) => caseFold(String.fromCodePoint(point)) !== (folds[point] ?? String.fromCodePoint(point)));
    expect(different).toEqual([]);
    expect(known.length).toBeGreaterThan(100_000);
  });
});
