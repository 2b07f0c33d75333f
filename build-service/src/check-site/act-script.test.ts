import { expect, test } from "vitest";
import { parseActs } from "./act-script.ts";

test("N5 an act script has an act a line, with quotes around what has spaces; comments and empty lines are none", () => {
  const text =
    '# sign in\n\ngoto /login?next=%2F\r\n  fill "input[name=\\"user\\"]" "ada \\\\ co"\nfill #note ""\nclick "text=Sign in"\npress Enter\nwait "Hello ada"';
  expect(parseActs(text, "a.txt")).toEqual({
    acts: [
      { is: "goto", path: "/login?next=%2F", line: 3, text: "goto /login?next=%2F" },
      { is: "fill", selector: 'input[name="user"]', value: "ada \\ co", line: 4, text: 'fill "input[name=\\"user\\"]" "ada \\\\ co"' },
      { is: "fill", selector: "#note", value: "", line: 5, text: 'fill #note ""' },
      { is: "click", selector: "text=Sign in", line: 6, text: 'click "text=Sign in"' },
      { is: "press", key: "Enter", line: 7, text: "press Enter" },
      { is: "wait", words: "Hello ada", line: 8, text: 'wait "Hello ada"' },
    ],
    problems: [],
  });
});

test.each([
  ["hover x", '"hover" is no act; there are goto, click, fill, press, wait'],
  ["toString x", '"toString" is no act; there are goto, click, fill, press, wait'],
  ["click text=Sign in", "write click SELECTOR, with double quotes around what has spaces in it"],
  ["click", "write click SELECTOR, with double quotes around what has spaces in it"],
  ['click ""', "write click SELECTOR, with double quotes around what has spaces in it"],
  ["fill #a", "write fill SELECTOR VALUE, with double quotes around what has spaces in it"],
  ["goto cart", 'expected a path of the site, as /cart, and found "cart"'],
  ["goto //evil.example/", 'expected a path of the site, as /cart, and found "//evil.example/"'],
  ["goto http://evil.example/", 'expected a path of the site, as /cart, and found "http://evil.example/"'],
  ['wait "Hello', 'a double quote is not closed: "Hello'],
  ['wait "Hello"ada', 'a space is missing after "Hello"'],
  ['wait "a\\q"', '"a\\q": a backslash may stand before " and \\ only'],
])("N5 an act that can't be read is a problem with its line: %s", (line, message) => {
  expect(parseActs(`goto /\n${line}\n`, "acts/a.txt").problems).toEqual([{ code: "act-script", path: "acts/a.txt:2", message }]);
});

test("N5 all mistakes of an act script are told at once", () => {
  expect(parseActs("jump\nwait x\nrun\n", "a.txt").problems.map(({ path }) => path)).toEqual(["a.txt:1", "a.txt:3"]);
});
