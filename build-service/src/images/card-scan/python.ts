import { fileURLToPath } from "node:url";
import { Language, type Node, Parser } from "web-tree-sitter";
import type { CardFinding, SourceScan } from "./finding.ts";
import { pythonString } from "./python-string.ts";

const DECORATOR = "environment_card";

let loading: Promise<Parser> | undefined;

/** A parser of Python in WebAssembly: 40–100 ms to load, once a process. Needs no Python. */
async function pythonParser(): Promise<Parser> {
  await Parser.init();
  const grammar = fileURLToPath(import.meta.resolve("tree-sitter-python/tree-sitter-python.wasm"));
  return new Parser().setLanguage(await Language.load(grammar));
}

/** The classes under `@environment_card(name="…")` in a Python source (4-bundle §6). Nothing is imported or run. */
export async function scanPython(source: string): Promise<SourceScan> {
  loading ??= pythonParser();
  const parser = await loading;
  const tree = parser.parse(source.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n"));
  if (tree === null) throw new Error("the Python parser was stopped");
  try {
    const error = firstError(tree.rootNode);
    return error === null ? { findings: cards(tree.rootNode) } : { error };
  } finally {
    tree.delete();
  }
}

function firstError(root: Node): string | null {
  if (!root.hasError) return null;
  const inner = root.children.find((child) => child?.hasError);
  if (inner && !root.isError) return firstError(inner);
  const { row, column } = root.startPosition;
  return `line ${row + 1} column ${column + 1}: syntax error`;
}

function cards(root: Node): CardFinding[] {
  const names = new Set([DECORATOR, ...aliases(root)]);
  return present(root.descendantsOfType("decorated_definition"))
    .filter((definition) => definition.childForFieldName("definition")?.type === "class_definition")
    .flatMap((definition) => definition.namedChildren.filter((child) => child?.type === "decorator"))
    .flatMap((decorator) => cardOf(decorator, names));
}

/** Other names that the file's own imports give the decorator, wherever in it they stand. */
function aliases(root: Node): string[] {
  return present(root.descendantsOfType("import_from_statement"))
    .flatMap((statement) => present(statement.childrenForFieldName("name")))
    .filter((name) => name.type === "aliased_import" && name.childForFieldName("name")?.text === DECORATOR)
    .flatMap((name) => name.childForFieldName("alias")?.text ?? []);
}

function cardOf(decorator: Node | null, names: ReadonlySet<string>): CardFinding[] {
  const call = inner(decorator?.namedChildren[0]);
  if (call?.type !== "call" || !isCard(inner(call.childForFieldName("function")), names)) return [];
  const given = present(call.childForFieldName("arguments")?.namedChildren ?? []);
  const line = call.startPosition.row + 1;
  const keyword = given.find((argument) => argument.type === "keyword_argument" && argument.childForFieldName("name")?.text === "name");
  if (keyword === undefined) return given.some(({ type }) => type === "dictionary_splat") ? [{ line, name: null }] : [];
  const name = literal(inner(keyword.childForFieldName("value")));
  return name === "" ? [] : [{ line, name }];
}

function isCard(callee: Node | null, names: ReadonlySet<string>): boolean {
  if (callee?.type === "identifier") return names.has(callee.text);
  return callee?.type === "attribute" && callee.childForFieldName("attribute")?.text === DECORATOR;
}

function literal(value: Node | null): string | null {
  if (value?.type === "string") return pythonString(value.text);
  if (value?.type !== "concatenated_string") return null;
  const parts = withoutComments(value).map(({ text }) => pythonString(text));
  return parts.includes(null) ? null : parts.join("");
}

/** What stands in parentheses, which mean nothing here. */
function inner(node: Node | null | undefined): Node | null {
  if (node?.type !== "parenthesized_expression") return node ?? null;
  return inner(withoutComments(node)[0]);
}

function withoutComments(node: Node): Node[] {
  return present(node.namedChildren).filter(({ type }) => type !== "comment");
}

function present(nodes: readonly (Node | null)[]): Node[] {
  return nodes.filter((node) => node !== null);
}
