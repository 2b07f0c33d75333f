import { instructionsOf } from "./ignore-expression.ts";
import { linearMatcher } from "./linear-match.ts";

/** One line of an ignore file as a matcher of whole paths, with `/`. */
export type IgnorePattern = { readonly isException: boolean; matches(path: string): boolean };

/** Characters that mean something to a regular expression and nothing to a pattern. `^` isn't among them, as in Docker's own. */
const LITERAL = ".+()|{}$";

/**
 * A pattern as Docker reads it (moby/patternmatcher). Throws a SyntaxError for one that it refuses. `text` has neither white
 * space at its ends nor the `!` of an exception.
 */
export function ignorePattern(text: string, isException: boolean): IgnorePattern {
  checkSyntax(text);
  return { isException, matches: matcherOf(text) };
}

/** A pattern without wildcards is compared as it stands; `**` at an end too. Everything else becomes a regular expression. */
function matcherOf(text: string): (path: string) => boolean {
  const { kind, source } = translated(text);
  if (kind === "exact") return (path) => path === text;
  if (kind === "prefix") return (path) => path.startsWith(text.slice(0, -2));
  if (kind === "suffix") {
    const suffix = text.slice(2);
    return (path) => path.endsWith(suffix) || `/${path}` === suffix;
  }
  const matches = linearMatcher(instructionsOf(source, text));
  const known = longestLiteral(text);
  return (path) => path.includes(known) && matches(path);
}

/** The expression that Docker writes for a pattern. It writes it without regard to classes, so `[*]` isn't a class of `*`. */
function translated(text: string): { readonly kind: "exact" | "prefix" | "suffix" | "expression"; readonly source: string } {
  const characters = [...text];
  let source = "";
  let kind: "exact" | "prefix" | "suffix" | "expression" = "exact";
  let at = 0;
  for (let turn = 0; at < characters.length; turn++) {
    const character = characters[at++] ?? "";
    if (character === "*" && characters[at] === "*") {
      at++;
      if (characters[at] === "/") at++;
      if (at < characters.length) {
        source += "(.*/)?";
        kind = "expression";
      } else if (kind === "exact") kind = "prefix";
      else {
        source += ".*";
        kind = "expression";
      }
      if (turn === 0) kind = "suffix";
    } else if (character === "*" || character === "?") {
      source += character === "*" ? "[^/]*" : "[^/]";
      kind = "expression";
    } else if (LITERAL.includes(character)) source += `\\${character}`;
    else if (character === "\\" && at < characters.length) {
      source += `\\${characters[at++]}`;
      kind = "expression";
    } else {
      source += character;
      if (character === "[" || character === "]") kind = "expression";
    }
  }
  return { kind, source };
}

/** The longest text that each path which matches holds as it is: most paths hold it not, and needn't be looked through. */
function longestLiteral(pattern: string): string {
  if (/[[\]\\^]/.test(pattern)) return "";
  return pattern.split(/[*?]+\/?/).reduce((longest, part) => (part.length > longest.length ? part : longest), "");
}

/** What Go's `filepath.Match` calls a bad pattern: a class that isn't closed or holds no range, an escape of nothing. */
function checkSyntax(text: string): void {
  const characters = [...text];
  const bad = (): never => {
    throw new SyntaxError(`${JSON.stringify(text)} is no pattern: a [ or a \\ in it isn't ended`);
  };
  let at = 0;
  const member = (): void => {
    if (at >= characters.length || characters[at] === "-" || characters[at] === "]") bad();
    if (characters[at] === "\\") at++;
    if (at >= characters.length) bad();
    at++;
    if (at >= characters.length) bad();
  };
  while (at < characters.length) {
    const character = characters[at++];
    if (character === "\\" && at++ >= characters.length) bad();
    if (character !== "[") continue;
    if (characters[at] === "^") at++;
    for (let ranges = 0; ranges === 0 || characters[at] !== "]"; ranges++) {
      member();
      if (characters[at] !== "-") continue;
      at++;
      member();
    }
    at++;
  }
}
