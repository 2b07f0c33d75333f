import type { Instruction } from "./linear-match.ts";

type Accepts = (character: string) => boolean;

/** What an escaped letter stands for (RE2, which Go's regular expressions are). */
const CONTROLS: ReadonlyMap<string, string> = new Map(Object.entries({ a: "\x07", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" }));
const isWord: Accepts = (character) => /^[0-9A-Za-z_]$/.test(character);
const CLASSES: ReadonlyMap<string, Accepts> = new Map(
  Object.entries({
    d: (character: string) => /^[0-9]$/.test(character),
    s: (character: string) => /^[\t\n\f\r ]$/.test(character),
    w: isWord,
  }).flatMap(([letter, accepts]): [string, Accepts][] => [
    [letter, accepts],
    [letter.toUpperCase(), (character) => !accepts(character)],
  ]),
);
const ASSERTIONS: ReadonlyMap<string, (before: string, after: string) => boolean> = new Map(
  Object.entries({
    "^": (before: string) => before === "",
    "\\A": (before: string) => before === "",
    "\\z": (_before: string, after: string) => after === "",
    "\\b": (before: string, after: string) => isWord(before) !== isWord(after),
    "\\B": (before: string, after: string) => isWord(before) === isWord(after),
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
      made.push({ does: "take", accepts: isNoLineEnd, next: start + 1 }, { does: "take", accepts: (character) => character === "/", next: start + 4 });
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

const isNoLineEnd: Accepts = (character) => character !== "\n";

/** Reads an expression from its start, one part after the other. */
function readerOf(source: string, pattern: string) {
  let rest = source;
  const refuse = (why: string): never => {
    throw new SyntaxError(`${JSON.stringify(pattern)} is no pattern: ${why}`);
  };
  const skip = (text: string): boolean => {
    if (!rest.startsWith(text)) return false;
    rest = rest.slice(text.length);
    return true;
  };
  const next = (): string => {
    const [character = ""] = rest;
    rest = rest.slice(character.length);
    return character;
  };
  /** One character, escaped or not. */
  const literal = (): string => {
    const character = next();
    if (character !== "\\") return character;
    const escaped = next();
    const meant = CONTROLS.get(escaped) ?? (/^[\x00-\x7f]$/.test(escaped) && !/^[0-9A-Za-z]$/.test(escaped) ? escaped : null);
    return meant ?? refuse(`\\${escaped} in it is no character`);
  };
  const classEscape = (): Accepts | null => {
    const found = rest.startsWith("\\") ? CLASSES.get(rest.slice(1, 2)) : undefined;
    if (found !== undefined) rest = rest.slice(2);
    return found ?? null;
  };
  const member = (): Accepts => {
    if (/^\[:.*:\]/.test(rest)) refuse("a [: :] in it isn't read");
    const family = classEscape();
    if (family !== null) return family;
    const low = literal();
    const isRange = /^-[^\]]/su.test(rest) && skip("-");
    const high = isRange ? literal() : low;
    const [from, to] = [codePoint(low), codePoint(high)];
    if (from > to) refuse(`the range ${low}-${high} in it ends before it begins`);
    return (character) => from <= codePoint(character) && codePoint(character) <= to;
  };
  /** The rest of a class, whose `[` has been read. A `]` that comes first is one of its characters. */
  const classMembers = (): Accepts => {
    const isNegated = skip("^");
    const members = [];
    do members.push(member());
    while (rest !== "" && !rest.startsWith("]"));
    if (!skip("]")) refuse("a [ in it isn't ended");
    return (character) => members.some((accepts) => accepts(character)) !== isNegated;
  };
  return {
    skip,
    isAtEnd: () => rest === "",
    assertion: () => {
      const [text, holds] = [...ASSERTIONS].find(([written]) => rest.startsWith(written)) ?? ["", null];
      skip(text);
      return holds;
    },
    /** The characters that the next part takes. */
    accepted: (): Accepts => {
      if (skip(".")) return isNoLineEnd;
      if (skip("[")) return classMembers();
      const family = classEscape();
      if (family !== null) return family;
      const character = literal();
      return (other) => other === character;
    },
  };
}

function codePoint(character: string): number {
  return character.codePointAt(0) ?? 0;
}
