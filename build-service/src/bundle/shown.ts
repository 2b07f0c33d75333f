import { escaped, printable } from "../report/printable.ts";

const LONGEST_VALUE = 80;

/** `text` on one line: what `printable` escapes, a line's end too, and what bytes that are no UTF-8 are read as. */
export function shownText(text: string): string {
  return printable(text).replace(/[\n\ufffd]/g, escaped);
}

/** A value of a config file as JSON on one line, cut at 80 characters. */
export function shownValue(value: unknown): string {
  const json = shownText(JSON.stringify(value, plainly) ?? String(value));
  return json.length > LONGEST_VALUE ? `${json.slice(0, LONGEST_VALUE - 1)}…` : json;
}

/** `"a", "b" and "c"`. */
export function listed(texts: readonly string[]): string {
  const quoted = texts.map((text) => shownText(JSON.stringify(text)));
  const last = quoted.at(-1);
  return quoted.length < 2 || last === undefined ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} and ${last}`;
}

/** A name for a message that tells two lookalikes apart: letters outside ASCII are escaped as well. */
export function shownAscii(text: string): string {
  return text.replace(/[^\x20-\x7e]/gu, escaped);
}

/** TOML's integers arrive as big ones, and its `nan` and `inf` are numbers: JSON knows neither. */
function plainly(_key: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  return typeof value === "bigint" ? Number(value) : value;
}
