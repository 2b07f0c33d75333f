import fc from "fast-check";
import { expect, test } from "vitest";
import { holds, PROPERTY } from "../../../../test/fixtures/property.ts";
import { parsedTarget } from "./in.ts";

/** What targets are made of where the URL parser may see more in them than in other texts. */
const PARTS = [
  "/",
  "//",
  ".",
  "..",
  "a",
  "b-c",
  "x.html",
  ".hidden",
  "%2e",
  "%2F",
  "\\",
  "?",
  "q=1",
  "#",
  ":",
  ";",
  "@",
  " ",
  "\u00e9",
  "\t",
];

test("a target is what the URL parser makes of it, whatever way it is read", PROPERTY, async () => {
  const target = fc.array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 8 }).map((parts) => `/${parts.join("")}`);
  await holds(
    fc.property(target, (text) => {
      const url = new URL(`http://target.invalid${text.replaceAll("\u00e9", "%E9")}`);
      url.hash = "";
      expect(parsedTarget(text)?.path).toBe(url.href.slice(url.origin.length));
    }),
    2_000,
  );
});
