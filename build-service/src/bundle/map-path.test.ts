import { expect, test } from "vitest";
import { mapPath } from "./map-path.ts";

const table = { a: "x", list: ["x", "y"], steps: [{ id: "x", n: 1 }, 7, { id: "y" }], empty: null };

test.each([
  ["a", ["a"], { ...table, a: "A" }],
  ["list[]", ["list[0]", "list[1]"], { ...table, list: ["A", "A"] }],
  ["steps[].id", ["steps[0].id", "steps[2].id"], { ...table, steps: [{ id: "A", n: 1 }, 7, { id: "A" }] }],
  ["gone", [], table],
  ["empty", [], table],
  ["a[]", [], table],
  ["list[].id", [], table],
])("%s is visited wherever it is, and the rest left as it is", (path, places, result) => {
  const visited: string[] = [];
  const mapped = mapPath(table, path, (_value, place) => {
    visited.push(place);
    return "A";
  });
  expect(visited).toEqual(places);
  expect(mapped).toEqual(result);
});
