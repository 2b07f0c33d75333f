import type { Instruction } from "./linear-match.ts";

type Accepts = (character: number) => boolean;

const anyOf = (...ranges: readonly string[]): Accepts => {
  const bounds = ranges.map((range) => [codePoint(range.slice(0, 1)), codePoint(range.slice(-1))] as const);
  return (character) => bounds.some(([from, to]) => from <= character && character <= to);
};
const isWord = anyOf("0-9", "A-Z", "_", "a-z");
/** What a backslash makes stand for itself: ASCII without letters and digits. */
const isMark = anyOf("\0-/", ":-@", "[-`", "{-\x7f");
/** What an escaped letter stands for (RE2, which Go's regular expressions are). */
const CONTROLS: ReadonlyMap<string, string> = new Map(Object.entries({ a: "\x07", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" }));
const CLASSES: ReadonlyMap<string, Accepts> = new Map(
  Object.entries({ d: anyOf("0-9"), s: anyOf("\t", "\n", "\f", "\r", " "), w: isWord }).flatMap(
    ([letter, accepts]): [string, Accepts][] => [
      [letter, accepts],
      [letter.toUpperCase(), (character) => !accepts(character)],
    ],
  ),
);
const ASSERTIONS: ReadonlyMap<string, (before: number, after: number) => boolean> = new Map(
  Object.entries({
    "^": (before: number) => before < 0,
    "\\A": (before: number) => before < 0,
    "\\z": (_before: number, after: number) => after < 0,
    "\\b": (before: number, after: number) => isWord(before) !== isWord(after),
    "\\B": (before: number, after: number) => isWord(before) === isWord(after),
  }),
);

/**
 * The expression of an ignore pattern, as far as one can hold: characters, escapes, classes, `.`, `^`, `*` after one of
 * them, and `(.*\/)?`. Throws a SyntaxError that names `pattern` for what Go refuses, and for escapes by number or of
 * families of characters (`\x41`, `\pL`, `[[:alpha:]]`), which nobody writes in a path.
 */
export function instructionsOf(source: string, pattern: string): Instruction[] {
  const reader = readerOf(source, pattern);
  const made: Instruction[] = [];
  while (!reader.isAtEnd()) {
    const start = made.length;
    if (reader.skip("(.*/)?")) {
      made.push({ does: "branch", next: [start + 1, start + 4] }, { does: "branch", next: [start + 2, start + 3] });
      made.push({ does: "take", accepts: isNoLineEnd, next: start + 1 }, { does: "take", accepts: isSlash, next: start + 4 });
      continue;
    }
    const holds = reader.assertion();
    if (holds !== null) {
      made.push({ does: "assert", holds, next: start + 1 });
      continue;
    }
    const accepts = reader.accepted();
    if (reader.skip("*")) made.push({ does: "branch", next: [start + 1, start + 2] }, { does: "take", accepts, next: start });
    else made.push({ does: "take", accepts, next: start + 1 });
  }
  return made;
}

const isSlash = anyOf("/");
const isNoLineEnd: Accepts = (character) => character !== codePoint("\n");

/** Reads an expression from its start, one part after the other. */
function readerOf(source: string, pattern: string) {
  let at = 0;
  const lastFamily = source.lastIndexOf(":]");
  const refuse = (why: string): never => {
    throw new SyntaxError(`${JSON.stringify(pattern)} is no pattern: ${why}`);
  };
  const skip = (text: string): boolean => {
    const isHere = source.startsWith(text, at);
    if (isHere) at += text.length;
    return isHere;
  };
  const next = (): string => {
    const code = source.codePointAt(at);
    const character = code === undefined ? "" : String.fromCodePoint(code);
    at += character.length;
    return character;
  };
  /** One character, escaped or not. */
  const literal = (): string => {
    const character = next();
    if (character !== "\\") return character;
    const escaped = next();
    return CONTROLS.get(escaped) ?? (isMark(codePoint(escaped)) ? escaped : refuse(`\\${escaped} in it is no character`));
  };
  const classEscape = (): Accepts | null => {
    const found = source[at] === "\\" ? CLASSES.get(source[at + 1] ?? "") : undefined;
    if (found !== undefined) at += 2;
    return found ?? null;
  };
  const member = (): Accepts => {
    if (source.startsWith("[:", at) && at < lastFamily) refuse("a [: :] in it isn't read");
    const family = classEscape();
    if (family !== null) return family;
    const low = literal();
    const isRange = at + 1 < source.length && source[at + 1] !== "]" && skip("-");
    const high = isRange ? literal() : low;
    const [from, to] = [codePoint(low), codePoint(high)];
    if (from > to) refuse(`the range ${low}-${high} in it ends before it begins`);
    return (character) => from <= character && character <= to;
  };
  /** The rest of a class, whose `[` has been read. A `]` that comes first is one of its characters. */
  const classMembers = (): Accepts => {
    const isNegated = skip("^");
    const members: Accepts[] = [];
    do members.push(member());
    while (at < source.length && source[at] !== "]");
    if (!skip("]")) refuse("a [ in it isn't ended");
    return (character) => members.some((accepts) => accepts(character)) !== isNegated;
  };
  return {
    skip,
    isAtEnd: () => at >= source.length,
    assertion: () => {
      const written = source[at] === "\\" ? source.slice(at, at + 2) : (source[at] ?? "");
      const holds = ASSERTIONS.get(written) ?? null;
      if (holds !== null) at += written.length;
      return holds;
    },
    /** The characters that the next part takes. */
    accepted: (): Accepts => {
      if (skip(".")) return isNoLineEnd;
      if (skip("[")) return classMembers();
      const family = classEscape();
      if (family !== null) return family;
      const wanted = codePoint(literal());
      return (character) => character === wanted;
    },
  };
}

function codePoint(character: string): number {
  return character.codePointAt(0) ?? 0;
}
