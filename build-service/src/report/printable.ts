/**
 * What a bundle's servers and scripts say, safe for a terminal: control, format and separator characters other than a line's
 * end are shown escaped, so that nothing can move the cursor or repaint a line.
 */
export function printable(text: string): string {
  return text.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, escaped);
}

/** The same, with every further line set in, so that it can't be taken for a line of ours. */
export function setIn(text: string, indent: string): string {
  return printable(text).replaceAll("\n", `\n${indent}`);
}

/** A character by its code point in hex digits: `\u200b`, or `\u{1f600}` beyond four. */
export function escaped(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`;
}
