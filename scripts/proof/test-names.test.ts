import { describe, expect, test } from "vitest";
import { isSelected, requirementsIn } from "./requirements.ts";
import { leadingIds, namedTests } from "./test-names.ts";

describe("a test proves the ids that its name starts with", () => {
  const names: [name: string, ids: string[]][] = [
    [`${"B3.2"} the card's name counts`, ["B3.2"]],
    [`${"B3.1"}, B3.2 both names`, ["B3.1", "B3.2"]],
    [`${"W4"} B5 two`, ["W4", "B5"]],
    [`${"G10"}: one core`, ["G10"]],
    ["P4", ["P4"]],
    ["what B3.2 says", []],
    ["B3.2x is no id", []],
    ["a name", []],
  ];
  test.each(names)("%s", (name, ids) => expect(leadingIds(name)).toEqual(ids));
});

test("every way to write a test is read", () => {
  const text = [
    'test("B1.1 plain", () => {});',
    'describe("W3.2 group", () => { it("inner", () => {}); });',
    'test.each([1])("B2.1 table %s", () => {});',
    'describe.skipIf(true)("P1 conditional", () => {});',
    "test(`N8 template " + "$" + "{1}`, () => {});",
    'call("B9 something else");',
    'test.each([["B3.3 a row", 1], ["B4", 2]])("%s", () => {});',
  ].join("\n");
  expect(
    namedTests("a.test.ts", text)
      .flatMap(({ ids }) => ids)
      .sort(),
  ).toEqual(["B1.1", "B2.1", "B3.3", "N8", "P1", "W3.2"]);
});

describe("requirements", () => {
  test("are the list items with a bold id", () => {
    expect(requirementsIn("# B\n- **B1.1** one\n- **G10** ten\n- other\n")).toEqual([
      { id: "B1.1", text: "one" },
      { id: "G10", text: "ten" },
    ]);
  });

  test("have one id each", () => {
    expect(() => requirementsIn("- **B1** one\n- **B1** two\n")).toThrow("docs/requirements.md lists B1 twice");
  });

  test("are selected with what is below them", () => {
    expect(["B1", "B1.2", "B10", "W1"].filter((id) => isSelected(id, ["B1"]))).toEqual(["B1", "B1.2"]);
    expect(["B1", "W1.2"].filter((id) => isSelected(id, ["W"]))).toEqual(["W1.2"]);
    expect(["B1", "W1"].filter((id) => isSelected(id, []))).toEqual(["B1", "W1"]);
  });
});
