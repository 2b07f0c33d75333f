/** Letters after a backslash that stand for one character in Python. */
const SIMPLE: Readonly<Record<string, string>> = {
  "\n": "",
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

const ESCAPE = /\\(?:([0-7]{1,3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S]))/g;

/**
 * The value of one Python string token, or null when it has none without running it: an f-string, a t-string, bytes, a
 * `\N{…}` (which needs the table of Unicode's names), an escape that Python refuses, half a surrogate pair.
 */
export function pythonString(token: string): string | null {
  const opened = /^([A-Za-z]*)("""|'''|"|')/.exec(token);
  if (opened === null) return null;
  const [opening, prefix = "", quote = ""] = opened;
  if (/[bft]/i.test(prefix)) return null;
  const body = token.slice(opening.length, token.length - quote.length);
  return /r/i.test(prefix) ? body : decoded(body);
}

function decoded(body: string): string | null {
  let isLiteral = true;
  const value = body.replace(ESCAPE, (whole, octal?: string, x?: string, u?: string, long?: string, letter?: string) => {
    if (letter !== undefined) {
      if ("NxuU".includes(letter)) isLiteral = false;
      return SIMPLE[letter] ?? whole;
    }
    const point = octal === undefined ? Number.parseInt(x ?? u ?? long ?? "", 16) : Number.parseInt(octal, 8);
    if (point <= 0x10ffff) return String.fromCodePoint(point);
    isLiteral = false;
    return whole;
  });
  return isLiteral && value.isWellFormed() ? value : null;
}
