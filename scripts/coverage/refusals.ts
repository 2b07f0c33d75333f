import { type Node, type ObjectExpression, parseSync, Visitor } from "oxc-parser";

/** One place in a source where something is refused. `text` is what stands there, on one line. */
export type Refusal = { readonly line: number; readonly column: number; readonly what: string; readonly text: string };

/** Functions and methods by which a problem is added, or the user told that something can't be. */
const CALLS = new Set(["problem", "refuse", "refused"]);
const ERRORS = new Set(["UserError", "Refused", "BuildFailed"]);

/**
 * Where a TypeScript source refuses (9-style, rule 3): `new UserError(`, `problems.push(`, `context.problem(`, `refuse(`, and a
 * problem as a value, `{ code, path, message }`.
 */
export function refusalsIn(path: string, source: string): Refusal[] {
  const { program, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path}: doesn't parse`);
  const found: Refusal[] = [];
  let end = 0;
  const add = (node: Node, what: string): void => {
    // A problem that is pushed is one refusal.
    if (node.start < end) return;
    end = node.end;
    const before = source.slice(0, node.start).split("\n");
    const text = source.slice(node.start, node.end).replace(/\s+/g, " ");
    found.push({ line: before.length, column: before.at(-1)?.length ?? 0, what, text });
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
    ObjectExpression(node) {
      const keys = keysOf(node);
      if (keys.has("code") && keys.has("message")) add(node, "problem");
    },
  }).visit(program);
  return found;
}

function keysOf({ properties }: ObjectExpression): Set<string> {
  return new Set(
    properties.flatMap((property) => (property.type === "Property" && property.key.type === "Identifier" ? [property.key.name] : [])),
  );
}

/** `column` counts from 0; null: to the end of the line. */
type Place = { readonly line: number; readonly column: number | null };
type Region = { readonly start: Place; readonly end: Place };
/** An arm that isn't written has no place. */
type Arm = { readonly start: Partial<Place>; readonly end: Partial<Place> };

/** What V8's coverage says of one file, in Istanbul's form. */
export type FileCoverage = {
  readonly statementMap: Readonly<Record<string, Region>>;
  readonly s: Readonly<Record<string, number>>;
  readonly branchMap: Readonly<Record<string, { readonly type: string; readonly locations: readonly Arm[] }>>;
  readonly b: Readonly<Record<string, readonly number[]>>;
};

/** The refusals that no test has reached: a statement around each, or an arm of an expression, was never run. */
export function unreached(refusals: readonly Refusal[], coverage: FileCoverage): Refusal[] {
  const never = neverRun(coverage);
  return refusals.filter(({ line, column }) => never.some((region) => isWithin({ line, column }, region)));
}

function neverRun({ statementMap, s, branchMap, b }: FileCoverage): Region[] {
  const statements = Object.entries(statementMap).filter(([id]) => s[id] === 0);
  // The place of an `if`'s first arm is the whole statement; what it holds are statements.
  const arms = Object.entries(branchMap)
    .filter(([, { type }]) => type !== "if")
    .flatMap(([id, { locations }]) => locations.filter((arm, index): arm is Region => isPlaced(arm) && b[id]?.[index] === 0));
  return [...statements.map(([, region]) => region), ...arms];
}

const isPlaced = ({ start, end }: Arm): boolean => start.line !== undefined && end.line !== undefined;

function isWithin(place: { readonly line: number; readonly column: number }, { start, end }: Region): boolean {
  const isAfterStart = place.line > start.line || (place.line === start.line && place.column >= (start.column ?? 0));
  return isAfterStart && (place.line < end.line || (place.line === end.line && place.column < (end.column ?? Number.POSITIVE_INFINITY)));
}
