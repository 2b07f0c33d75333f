/** Letters whose case folding isn't "lower case of the upper case": Cherokee folds to upper case, a dotless i to itself. */
const CHEROKEE = /[\u13a0-\u13f5\u13f8-\u13fd\uab70-\uabbf]/u;
const DOTLESS_I = "\u0131";

/**
 * Unicode full case folding (Unicode, section 3.13), code point by code point: `Straße` and `STRASSE` become one.
 * `toLowerCase` alone is not enough: it keeps `ß`, and looks at a letter's neighbours.
 */
export function caseFold(text: string): string {
  let folded = "";
  for (const letter of text) folded += foldLetter(letter);
  return folded;
}

/** What two names must differ in to be told apart everywhere: NFC, case-folded, NFC. */
export function foldName(name: string): string {
  return caseFold(name.normalize("NFC")).normalize("NFC");
}

function foldLetter(letter: string): string {
  if (letter < "\u0080") return letter.toLowerCase();
  if (letter === DOTLESS_I) return letter;
  if (CHEROKEE.test(letter)) return letter.toUpperCase();
  return letter.toLowerCase().toUpperCase().toLowerCase();
}
