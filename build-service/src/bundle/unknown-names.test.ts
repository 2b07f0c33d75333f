import { expect, test } from "vitest";
import { probably, unknownKeys } from "./unknown-names.ts";

const KNOWN = ["type", "image", "environment_name", "env_provider_type", "deploy_env", "id"];

const cases: [string, string][] = [
  ["imgae", ' (probably "image")'],
  ["images", ' (probably "image")'],
  ["imag", ' (probably "image")'],
  ["IMAGE", ' (probably "image")'],
  ["enviroment_nam", ' (probably "environment_name")'],
  ["deploy_evn", ' (probably "deploy_env")'],
  ["envprovidertype", ' (probably "env_provider_type")'],
  ["typ", ' (probably "type")'],
  ["env_name", ""],
  ["i", ""],
  ["ids", ""],
  ["", ""],
  ["constructor", ""],
];
test.each(cases)("what %j was probably meant to be", (text, expected) => {
  expect(probably([text], KNOWN)).toBe(expected);
});

test("keys that aren't known, with those that are", () => {
  expect(unknownKeys(["imgae"], "it", ["image", "id"])).toBe('unknown key "imgae" (probably "image"): it takes image, id');
  expect(unknownKeys(["a", "b"], "an eval", ["tasks"])).toBe('unknown keys "a" and "b": an eval takes tasks');
});

test("of several names, those that have one", () => {
  expect(probably(["imgae", "colour", "environment_nme"], KNOWN)).toBe(' (probably "image" and "environment_name")');
  expect(probably([], KNOWN)).toBe("");
});
