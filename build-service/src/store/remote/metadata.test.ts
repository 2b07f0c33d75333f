import { describe, expect, test } from "vitest";
import { metadataHeaders, metadataOf } from "./metadata.ts";

const read = (value: string) => metadataOf(new Headers([["x-amz-meta-a", value]]));

describe("an object's metadata as headers", () => {
  test("ASCII goes as it is, anything else by RFC 2047", () => {
    expect(metadataHeaders({ digest: "sha256:0a", city: "Köln" })).toEqual([
      ["x-amz-meta-digest", "sha256:0a"],
      ["x-amz-meta-city", "=?UTF-8?B?S8O2bG4=?="],
    ]);
  });

  test.each([
    ["=?utf-8?Q?K=C3=B6ln?=", "Köln"],
    ["=?UTF-8?B?S8O2bG4=?=", "Köln"],
    ["=?utf-8?q?a_K=C3?= =?utf-8?q?=B6ln?=", "a Köln"],
    ["plain =? text", "plain =? text"],
  ])("%j is read as %j", (value, text) => {
    expect(read(value)).toEqual({ a: text });
  });

  test.each(["", " a", "a  b", "a\nb", "=?UTF-8?Q?a?="])("%j, which R2 would give back as something else, is not sent", (value) => {
    expect(() => metadataHeaders({ a: value })).toThrow(`a header can't hold this metadata: ${JSON.stringify(value)}`);
  });

  test("a key that is no header's name is not sent", () => {
    expect(() => metadataHeaders({ Ä: "x" })).toThrow('a metadata key is a header\'s name, in lower case: "Ä"');
  });
});
