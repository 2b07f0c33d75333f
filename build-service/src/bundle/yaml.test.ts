import { expect, test } from "vitest";
import { parseYaml } from "./yaml.ts";

test("reads plain values", () => {
  expect(parseYaml('name: "a b"\nn: 1\nyes: yes\nmore:\n  k: |\n    text\n')).toEqual({
    name: "a b",
    n: 1,
    yes: "yes",
    more: { k: "text\n" },
  });
  expect(parseYaml("")).toBe(null);
});

const refused: [string, string, string][] = [
  ["a key twice", "a: 1\nb: 2\na: 3\n", "Map keys must be unique (line 3 column 1)"],
  ["an alias", "a: &x [1]\nb: [*x, *x]\n", "the alias *x is not allowed (line 2 column 5)"],
  ["a tag of its own", "a: !!js/function x\n", "Unresolved tag: tag:yaml.org,2002:js/function (line 1 column 4)"],
  ["two documents", "a: 1\n---\nb: 2\n", "a second document begins (line 2 column 1)"],
];
test.each(refused)("%s is refused", (_name, text, message) => {
  expect(() => parseYaml(text)).toThrow(new SyntaxError(message));
});

test("counts lines from where the text starts in its file", () => {
  expect(() => parseYaml("a: [\n", 2)).toThrow(/\(line \d column \d\)$/);
  expect(() => parseYaml("a: 1\na: 1\n", 10)).toThrow(new SyntaxError("Map keys must be unique (line 11 column 1)"));
});

test.each(["[", "{a: ", "- ", "? "])("nesting without end by %j is refused, not followed", (open) => {
  expect(() => parseYaml(open.repeat(100_000))).toThrow(SyntaxError);
});

test("aliases that would multiply are refused before they do", () => {
  const lines = [
    "a: &a [x, x]",
    ...Array.from({ length: 30 }, (_, i) => `b${i}: &b${i} [*${i === 0 ? "a" : `b${i - 1}`}, *${i === 0 ? "a" : `b${i - 1}`}]`),
  ];
  expect(() => parseYaml(lines.join("\n"))).toThrow("the alias *a is not allowed");
});
