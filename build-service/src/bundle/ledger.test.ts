import { expect, test } from "vitest";
import { canonicalDigest, canonicalJson } from "./canonical.ts";
import { inputsDigest } from "./ledger.ts";
import { changeReasons } from "./reasons.ts";

const inputs = {
  type: "mcp_server",
  config: canonicalDigest({ image: "@local/~/demo/items__env_image", environment_name: "items", env_provider_type: "gateway" }),
  files: {},
  needs: { "artifact @local/~/demo/items__env_image": "1" },
  store_refs: {},
};

test("B8.1 a version's digest is pinned", () => {
  expect(inputs.config).toBe("sha256:83123691241aaa2d08a88943adc19d6eb2d2b61758ca51e111741360affa4810");
  expect(inputsDigest({ store: "env", id: "@local/~/demo/items", inputs })).toBe(
    "sha256:ac67514b7b244af030f94d3730cfb80044b159c590efaa0ddc31b90d0cc07e40",
  );
});

test("canonical JSON sorts keys by UTF-16 unit, at every depth, and keeps lists", () => {
  expect(canonicalJson({ b: [{ z: 1, a: "é" }], a: null, "\uff5e": 1, "\u{1f600}": 2 })).toBe(
    '{"a":null,"b":[{"a":"é","z":1}],"\u{1f600}":2,"\uff5e":1}',
  );
});

const sha = (digit: string): string => `sha256:${digit.repeat(64)}`;

test("canonical JSON sorts keys that look like numbers as the texts that they are", () => {
  expect(canonicalJson({ 9: 1, 10: 2, a: undefined })).toBe('{"10":2,"9":1}');
});

test("B8.1 each kind of change is a reason", () => {
  const before = {
    ...inputs,
    files: { "run.sh": sha("1"), "server.py": sha("1"), gone: sha("1"), both: sha("1") },
    needs: { "artifact a": "1", "artifact lost": "1" },
    store_refs: { "env mail": "1", "env old": "1" },
  };
  const now = {
    ...inputs,
    type: "website",
    config: sha("9"),
    files: { "run.sh": `${sha("1")}+x`, "server.py": sha("2"), added: sha("1"), both: `${sha("2")}+x` },
    needs: { "artifact a": "2", "artifact new": "1" },
    store_refs: { "env mail": "2" },
  };
  expect(changeReasons(before, now)).toEqual([
    "type changed: mcp_server → website",
    "config changed",
    "files added: added",
    "files removed: gone",
    "files changed: both, run.sh (mode), server.py",
    "artifact a is written anew (v1 → v2)",
    "now needs artifact new",
    "no longer needs artifact lost",
    "no longer needs env old",
    "env mail has a new version in the store (v1 → v2)",
  ]);
  expect(changeReasons(now, now)).toEqual([]);
});

test("B8.2 a new version is a reason also when what writes it moves between the bundle and the store", () => {
  const here = { ...inputs, needs: { "env mail": "1" } };
  const there = { ...inputs, needs: {}, store_refs: { "env mail": "2" } };
  expect(changeReasons(here, there)).toEqual(["env mail has a new version in the store (v1 → v2)"]);
  expect(changeReasons(there, here)).toEqual(["env mail is written anew (v2 → v1)"]);
  expect(changeReasons(here, { ...there, store_refs: { "env mail": "1" } })).toEqual([]);
});

test("B8.1 five changed files are listed, by code point, and the others counted", () => {
  const files = (digit: string) =>
    Object.fromEntries(["f", "e", "d", "c", "b", "a", "\u{1f600}", "\uff5e"].map((path) => [path, sha(digit)]));
  expect(changeReasons({ ...inputs, files: files("1") }, { ...inputs, files: files("2") })).toEqual([
    "files changed: a, b, c, d, e and 3 more",
  ]);
});
