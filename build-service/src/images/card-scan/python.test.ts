import { describe, expect, test } from "vitest";
import { scanPython } from "./python.ts";

/** What a card names: its texts, and null for one that is no literal. */
async function names(source: string): Promise<(string | null)[]> {
  const scan = await scanPython(source);
  if ("error" in scan) throw new Error(scan.error);
  return scan.findings.map(({ name }) => name);
}

const on = (decorator: string): string => `${decorator}\nclass Items:\n    pass\n`;

describe("B3.2 a Python class under environment_card names the environment", () => {
  const counts: [string, string][] = [
    ["plain", on('@environment_card(name="a")')],
    ["any order of arguments", on('@environment_card(version="1", name="a", tools=[])')],
    ["any decorator position", on('@dataclass\n@environment_card(name="a")\n@other')],
    ["in a function", 'def f():\n    @environment_card(name="a")\n    class Items: ...\n'],
    ["in a block", 'if x:\n    try:\n        pass\n    finally:\n        @environment_card(name="a")\n        class Items: ...\n'],
    ["in a class", 'class Outer:\n    @environment_card(name="a")\n    class Items: ...\n'],
    ["last attribute", on('@sdk.environment_card(name="a")')],
    ["last attribute of an expression", on('@f().x.environment_card(name="a")')],
    ["the call in parentheses", on('@(environment_card(name="a"))')],
    ["the name given twice: the first", on('@environment_card(name="a", name="b")')],
    ["adjacent literals", on("@environment_card(name=(\n  'a' # one\n  \"\"))")],
    ["triple-quoted", on('@environment_card(name="""a""")')],
    ["raw", on('@environment_card(name=r"a")')],
    ["u", on("@environment_card(name=u'a')")],
    ["in parentheses", on('@environment_card(name=(("a")))')],
    ["an escape", on('@environment_card(name="\\x61")')],
    ["a renaming import", `from sdk import environment_card as card\n${on('@card(name="a")')}`],
    [
      "a renaming import in a try",
      `try:\n    from sdk import (x, environment_card as card,)\nexcept ImportError: pass\n${on('@card(name="a")')}`,
    ],
    ["CRLF", on('@environment_card(name="a")').replaceAll("\n", "\r\n")],
    ["form feed", `\f${on('@environment_card(name="a")')}`],
    ["a byte-order mark", `\ufeff${on('@environment_card(name="a")')}`],
    [
      "the newest grammar",
      `type X[T] = list[T]\nmatch x:\n    case [1, *_]: pass\n${on('@environment_card(name="a")')}try:\n    pass\nexcept* E: pass\n`,
    ],
  ];
  test.each(counts)("%s", async (_name, source) => {
    expect(await names(source)).toEqual(["a"]);
  });

  const nothing: [string, string][] = [
    ["on a function", '@environment_card(name="a")\ndef f(): ...\n'],
    ["without a call", on("@environment_card")],
    ["called twice", on('@environment_card(name="a")(x)')],
    ["assigned to another name", `card = environment_card\n${on('@card(name="a")')}`],
    ["via subscript", on('@cards["environment_card"](name="a")')],
    ["via walrus", on('@(c := environment_card)(name="a")')],
    ["via partial", on('@partial(environment_card, name="a")')],
    ["positional", on('@environment_card("a")')],
    ["the empty string", on('@environment_card(name="")')],
    ["in a comment", '# @environment_card(name="a")\nclass A: ...\n'],
    ["in a docstring", 'class A:\n    """\n    @environment_card(name="a")\n    class B: ...\n    """\n'],
    ["an import of another thing under that alias", `from sdk import other as card\n${on('@card(name="a")')}`],
  ];
  test.each(nothing)("but not: %s", async (_name, source) => {
    expect(await names(source)).toEqual([]);
  });

  const noLiterals = [
    'f"a"',
    '"a" f"{x}"',
    't"a"',
    'b"a"',
    '"a" + "b"',
    '"%s" % x',
    "NAME",
    "name()",
    '"a" if x else "b"',
    "None",
    '(n := "a")',
    '"\\N{DASH}"',
    '"\\xZ"',
    '"\\ud800"',
  ];
  test.each(noLiterals)("a name that is no literal is told apart: %s", async (value) => {
    expect(await names(on(`@environment_card(name=${value})`))).toEqual([null]);
  });

  test("a name behind ** is told apart", async () => {
    expect(await names(on("@environment_card(**card)"))).toEqual([null]);
  });

  test("escapes are decoded as Python does", async () => {
    expect(
      await names(
        on(String.raw`@environment_card(name="\x62\u0063\U0001f600\101\
\q\\\'")`),
      ),
    ).toEqual(["bc\u{1f600}A\\q\\'"]);
    expect(await names(on(String.raw`@environment_card(name=r"\x62")`))).toEqual(["\\x62"]);
  });

  test("each card has its line", async () => {
    const source = `\n${on('@environment_card(name="a")')}\n${on("@environment_card(name=NAME)")}`;
    expect(await scanPython(source)).toEqual({
      findings: [
        { line: 2, name: "a" },
        { line: 6, name: null },
      ],
    });
  });

  test("a source that doesn't parse says where", async () => {
    expect(await scanPython(`${on('@environment_card(name="a")')}def f(:\n    pass\n`)).toEqual({ error: "line 4 column 7: syntax error" });
  });
});
