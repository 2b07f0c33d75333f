import { type Node, parseSync, Visitor } from "oxc-parser";

/** One place in a source where something is refused. */
export type Refusal = { readonly line: number; readonly what: string };

/** Functions and methods by which a problem is added, or the user told that something can't be. */
const CALLS = new Set(["problem", "refuse", "refused"]);
const ERRORS = new Set(["UserError", "Refused", "BuildFailed"]);

/** Where a TypeScript source refuses: `new UserError(`, `problems.push(`, `context.problem(`, `refuse(` (9-style, rule 3). */
export function refusalsIn(path: string, source: string): Refusal[] {
  const { program, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path}: doesn't parse`);
  const found: Refusal[] = [];
  const add = (node: Node, what: string): void => {
    found.push({ line: source.slice(0, node.start).split("\n").length, what });
  };
  new Visitor({
    NewExpression(node) {
      const { callee } = node;
      if (callee.type === "Identifier" && ERRORS.has(callee.name)) add(node, `new ${callee.name}`);
    },
    CallExpression(node) {
      const { callee } = node;
      if (callee.type === "Identifier" && CALLS.has(callee.name)) add(node, callee.name);
      if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return;
      const { name } = callee.property;
      const isPush = name === "push" && callee.object.type === "Identifier" && /problems$/i.test(callee.object.name);
      if (isPush || CALLS.has(name)) add(node, isPush ? "problems.push" : name);
    },
  }).visit(program);
  return found;
}

/** What V8's coverage says of one file, in Istanbul's form. */
export type FileCoverage = {
  readonly statementMap: Readonly<Record<string, { readonly start: { readonly line: number }; readonly end: { readonly line: number } }>>;
  readonly s: Readonly<Record<string, number>>;
};

/** The refusals that no test has reached: the smallest statement around each was never run. */
export function unreached(refusals: readonly Refusal[], { statementMap, s }: FileCoverage): Refusal[] {
  return refusals.filter(({ line }) => {
    const around = Object.entries(statementMap)
      .filter(([, { start, end }]) => start.line <= line && line <= end.line)
      .sort(([, a], [, b]) => a.end.line - a.start.line - (b.end.line - b.start.line));
    const [smallest] = around;
    return smallest === undefined || s[smallest[0]] === 0;
  });
}
