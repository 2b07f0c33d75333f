import { expect, test } from "vitest";
import { writeOrder } from "./write-order.ts";

const item = (key: string, ...needs: string[]) => ({ key, entryPath: `envs/${key}`, needs });

test("each comes after what it needs, ties in bundle order", () => {
  const { ordered, problems } = writeOrder([item("a", "d"), item("b"), item("c", "stored"), item("d"), item("e", "a", "b")]);
  expect(problems).toEqual([]);
  expect(ordered.map(({ key }) => key)).toEqual(["b", "c", "d", "a", "e"]);
});

test("a loop is refused, showing a shortest one", () => {
  const { problems } = writeOrder([item("a", "b"), item("b", "c"), item("c", "a"), item("d", "e"), item("e", "d"), item("f", "a")]);
  expect(problems).toEqual([{ code: "loop", path: "envs/d", message: "needs itself: envs/d -> envs/e -> envs/d" }]);
  expect(writeOrder([item("a", "a")]).problems).toEqual([{ code: "loop", path: "envs/a", message: "needs itself: envs/a -> envs/a" }]);
});
