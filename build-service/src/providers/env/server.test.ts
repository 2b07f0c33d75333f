import { expect, test } from "vitest";
import { toolsReason } from "./server.ts";

test.each<[string, string[], string | null]>([
  ["with tools of distinct names is ready", ["a", "b"], null],
  ["without tools is not", [], "it lists no tools"],
  ["with a name listed twice is not", ["a", "b", "a", "c", "c"], "it lists a, c more than once"],
])("P4 a server without a gateway %s", (_name, names, reason) => {
  expect(toolsReason(names)).toBe(reason);
});
