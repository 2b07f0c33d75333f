import { parseSync, Visitor } from "oxc-parser";

/** A test, or a group of tests, and the requirements that its name starts with. */
export type NamedTest = { readonly file: string; readonly name: string; readonly ids: readonly string[] };

const RUNNERS = new Set(["test", "it", "describe"]);

/** The tests and groups in a source text whose names start with requirement ids. */
export function namedTests(file: string, text: string): NamedTest[] {
  const found: NamedTest[] = [];
  const visitor = new Visitor({
    CallExpression(call) {
      const [first] = call.arguments;
      if (first === undefined || !RUNNERS.has(rootName(call.callee))) return;
      const name = first.type === "Literal" && typeof first.value === "string" ? first.value : templateText(first, text);
      if (name !== null && leadingIds(name).length > 0) found.push({ file, name, ids: leadingIds(name) });
    },
    // A row of a table of tests: its first element is the test's name.
    ArrayExpression({ elements: [first] }) {
      if (first?.type !== "Literal" || typeof first.value !== "string" || !/ \S/.test(first.value)) return;
      if (leadingIds(first.value).length > 0) found.push({ file, name: first.value, ids: leadingIds(first.value) });
    },
  });
  visitor.visit(parseSync(file, text).program);
  return found;
}

/** The ids at the start of a name, separated by spaces or commas: `B3.1, B3.2 the name …`. */
export function leadingIds(name: string): string[] {
  const start = /^(?:[BWGPN]\d+(?:\.\d+)?(?:,? |:|$))+/.exec(name)?.[0] ?? "";
  return start.match(/[BWGPN]\d+(?:\.\d+)?/g) ?? [];
}

type Node = { readonly type: string };

/** `test` in `test(…)`, `test.each(…)(…)` and `describe.skipIf(…)(…)`. */
function rootName(callee: Node): string {
  if (callee.type === "Identifier" && "name" in callee && typeof callee.name === "string") return callee.name;
  if (callee.type === "MemberExpression" && "object" in callee) return rootName(asNode(callee.object));
  if (callee.type === "CallExpression" && "callee" in callee) return rootName(asNode(callee.callee));
  if (callee.type === "TaggedTemplateExpression" && "tag" in callee) return rootName(asNode(callee.tag));
  return "";
}

function asNode(value: unknown): Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"
    ? { ...value, type: value.type }
    : { type: "" };
}

/** The source of a template literal between its backticks, placeholders as written. */
function templateText(node: Node & { start: number; end: number }, text: string): string | null {
  return node.type === "TemplateLiteral" ? text.slice(node.start + 1, node.end - 1) : null;
}
