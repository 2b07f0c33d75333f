import { expect, test } from "vitest";
import { z } from "zod";
import { FileUniverseRecord } from "./records.ts";
import { tableOf } from "./table.ts";

const Numbers = tableOf(z.number());

test("a table keeps every key, and the prototype its own", () => {
  const parsed = Numbers.parse(JSON.parse('{"__proto__":1,"constructor":2,"a/b":3}'));
  expect(JSON.stringify(parsed)).toBe('{"__proto__":1,"constructor":2,"a/b":3}');
  expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
});

test.each([
  ['{"a":{"__proto__":"1"}}', [["a", "__proto__"], "Invalid input: expected number, received string"]],
  ['{"a":[1]}', [["a"], "expected a table"]],
  ['{"a":null}', [["a"], "expected a table"]],
])("%s is refused by its place", (text, expected) => {
  const { error } = z.object({ a: Numbers }).safeParse(JSON.parse(text));
  expect(error?.issues.map(({ path, message }) => [path, message])).toEqual([expected]);
});

test("the file of a universe may be named __proto__", () => {
  const text = '{"__proto__":{"id":"a","version":1}}';
  const record = { id: "u", version: 1, type: "file_artifact_universe", file_artifact_ids: JSON.parse('{"__proto__":"a"}') };
  const { file_artifact_refs, file_artifact_ids } = FileUniverseRecord.parse({ ...record, file_artifact_refs: JSON.parse(text) });
  expect(JSON.stringify([file_artifact_refs, file_artifact_ids])).toBe(`[${text},{"__proto__":"a"}]`);
});
