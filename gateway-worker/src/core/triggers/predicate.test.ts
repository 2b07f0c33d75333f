import { parseJson } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { parsePath, valueAt } from "./paths.ts";
import { holds, Predicate } from "./predicate.ts";
import { redacted } from "./redacted.ts";
import { filled, NoValue, templateFault } from "./template.ts";

const slot = (path: string) => `$\{${path}}`;

describe("G1 what triggers look at", () => {
  test("paths: words with indexes", () => {
    const value = { a: [{ "b-c": 1 }, [2, 3]], d: null };
    const at = (text: string) => valueAt(value, parsePath(text) ?? []);
    expect(["a[0].b-c", "a[1][1]", "a[1][*]", "d", "a[9]", "a.b", "toString"].map(at)).toEqual([
      1,
      3,
      [2, 3],
      null,
      undefined,
      undefined,
      undefined,
    ]);
    expect(["", "a.", ".a", "a[", "a[x]", "a b", "a[-1]"].map(parsePath)).toEqual(Array.from({ length: 7 }, () => null));
  });

  test.each<[object, unknown, boolean]>([
    [{ regex: "^a.c$" }, "abc", true],
    [{ regex: "b" }, { a: "b" }, true],
    [{ regex: "5" }, 15, true],
    [{ regex: "" }, null, false],
    [{ equals: { a: 1, b: [2] } }, { b: [2], a: 1 }, true],
    [{ equals: parseJson("12345678901234567890") }, parseJson("12345678901234567890"), true],
    [{ equals: parseJson("12345678901234567890") }, parseJson("12345678901234567891"), false],
    [{ equals: 1 }, "1", false],
    [{ equals: null }, null, true],
    [{ exists: true }, 0, true],
    [{ exists: false }, [], true],
    [{ exists: true }, "", false],
    [{ exists: false }, undefined, true],
  ])("%j of %j: %s", (predicate, value, expected) => {
    expect(holds(Predicate.parse(predicate), value)).toBe(expected);
  });

  test("a pattern takes no longer for a text that others choke on", () => {
    const began = performance.now();
    expect(holds(Predicate.parse({ regex: "^(a+)+$" }), `${"a".repeat(50_000)}b`)).toBe(false);
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  test("predicates that are none are refused", () => {
    const wrong = [{}, { regex: "a", equals: 1 }, { regex: 5 }, { exists: "yes" }, { regex: "(" }, { regex: "(?<=a)b" }];
    expect(wrong.map((predicate) => Predicate.safeParse(predicate).success)).toEqual(wrong.map(() => false));
  });
});

describe("G1 templates", () => {
  const scope = { args: { n: 5, list: ["a"], text: "x" }, result: { id: 7 }, bindings: { found: { id: 1 } } };

  test("keep their type alone, are text among text, and drop an optional key", () => {
    const args = {
      a: slot("args.n"),
      b: `${slot("args.text")}-${slot("result.id")}`,
      c: [slot("args.list[0]")],
      d: slot("args.no?"),
      e: slot("found.id"),
    };
    expect(filled(args, scope)).toEqual({ a: 5, b: "x-7", c: ["a"], e: 1 });
    expect(() => filled({ a: slot("args.no") }, scope)).toThrow(NoValue);
  });

  test("are refused where they name what can't be there", () => {
    const roots = ["args", "result"];
    expect([slot("args.a"), "plain", { deep: [slot("result.x[0]?")] }].map((value) => templateFault(value, roots))).toEqual([
      null,
      null,
      null,
    ]);
    for (const wrong of [slot("other.a"), slot("args"), slot(""), "$" + "{args.a", slot("args.a b")])
      expect(templateFault(wrong, roots)).not.toBe(null);
  });
});

test("G1 logs of triggers show ids and harmless keys, of others what they are", () => {
  expect(redacted({ order_id: 7, title: "tea", note: "secret", tags: ["a", "b"], price: 1.5, userId: "u", name: { first: "x" } })).toEqual({
    order_id: 7,
    title: "tea",
    note: { redacted: { type: "string", len: 6 } },
    tags: { redacted: { type: "list", len: 2 } },
    price: { redacted: { type: "number" } },
    userId: "u",
    name: { redacted: { type: "object", len: 1 } },
  });
});
