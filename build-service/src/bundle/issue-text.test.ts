import { expect, test } from "vitest";
import { z } from "zod";
import { issueText } from "./issue-text.ts";

const Fields = z.object({
  name: z.string().min(1),
  note: z.string().max(3),
  mode: z.enum(["vm", "container"]),
  cpu: z.number().positive(),
  ttl: z.int().min(60).max(100),
  flag: z.boolean(),
  list: z.array(z.object({ id: z.string() })).min(1),
  env: z.record(z.string(), z.string()),
  url: z.union([z.string(), z.object({ url: z.string() })]),
  word: z.string().regex(/^a/),
  rule: z.discriminatedUnion("type", [z.object({ type: z.literal("a") }), z.object({ type: z.literal("b"), n: z.number() })]),
});

const right = {
  name: "a",
  note: "",
  mode: "vm",
  cpu: 1,
  ttl: 60,
  flag: true,
  list: [{ id: "x" }],
  env: {},
  url: "u",
  word: "a",
  rule: { type: "a" },
};

function texts(wrong: object): string[] {
  const raw = { ...right, ...wrong };
  return Fields.safeParse(raw).error?.issues.map((issue) => issueText(issue, raw)) ?? [];
}

const cases: [object, string[]][] = [
  [{}, []],
  [{ name: undefined, mode: undefined }, ["name is missing: it takes a string", 'mode is missing: it takes "vm" or "container"']],
  [{ name: 1, flag: "yes" }, ["name: expected a string, and found 1", 'flag: expected true or false, and found "yes"']],
  [
    { name: "", note: "long" },
    ['name: expected a text that isn\'t empty, and found ""', 'note: expected 3 characters or less, and found "long"'],
  ],
  [{ mode: "both" }, ['mode: expected "vm" or "container", and found "both"']],
  [{ cpu: 0, ttl: 5 }, ["cpu: expected more than 0, and found 0", "ttl: expected 60 or more, and found 5"]],
  [{ cpu: "1", ttl: 60.5 }, ['cpu: expected a number, and found "1"', "ttl: expected a whole number, and found 60.5"]],
  [{ ttl: 101 }, ["ttl: expected 100 or less, and found 101"]],
  [{ list: [] }, ["list: expected a list that isn't empty, and found []"]],
  [{ list: [{ id: "x" }, {}], env: { A: 1 } }, ["list[1].id is missing: it takes a string", "env.A: expected a string, and found 1"]],
  [{ list: {}, env: [] }, ["list: expected a list, and found {}", "env: expected an object, and found []"]],
  [{ url: 1 }, ["url: expected a string or an object, and found 1"]],
  [{ url: { url: 1 } }, ["url.url: expected a string, and found 1"]],
  [{ word: "b" }, ['word: expected a text of the form /^a/, and found "b"']],
  [{ rule: { type: "c" } }, ['rule.type: expected "a" or "b", and found "c"']],
  [{ rule: { type: "b", n: "1" } }, ['rule.n: expected a number, and found "1"']],
];

test.each(cases)("what is wrong with %j", (wrong, expected) => {
  expect(texts(wrong)).toEqual(expected);
});

test("a value as a whole, and keys that it doesn't have", () => {
  expect(Fields.safeParse([]).error?.issues.map((issue) => issueText(issue, [], "the file"))).toEqual([
    "the file: expected an object, and found []",
  ]);
  const closed = z.strictObject({ a: z.string() });
  const raw = { a: "x", b: 1, c: 2 };
  expect(closed.safeParse(raw).error?.issues.map((issue) => issueText(issue, raw))).toEqual(['the step: has no "b", "c"']);
});
