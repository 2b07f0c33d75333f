import { foldName } from "@agent-env/protocol";
import { listed } from "./shown.ts";

/** One mistake in so many characters still reads as the same word. */
const CHARACTERS_A_MISTAKE = 4;

/**
 * What was probably meant by names that aren't known, for after them in a message: ` (probably "image")`. Empty where none
 * of the known names is close.
 */
export function probably(unknown: readonly string[], known: readonly string[]): string {
  const near = unknown.map((text) => nearest(text, known)).filter((name) => name !== null);
  return near.length === 0 ? "" : ` (probably ${listed(near)})`;
}

/** What to say of keys that `owner` doesn't take: `unknown key "imgae" (probably "image"): mcp_server takes image, id`. */
export function unknownKeys(unknown: readonly string[], owner: string, takes: readonly string[]): string {
  const keys = `${unknown.length === 1 ? "key" : "keys"} ${listed(unknown)}`;
  return `unknown ${keys}${probably(unknown, takes)}: ${owner} takes ${takes.join(", ")}`;
}

function nearest(text: string, known: readonly string[]): string | null {
  const most = Math.floor(text.length / CHARACTERS_A_MISTAKE);
  const [best] = known
    .map((name) => ({ name, mistakes: mistakesBetween(foldName(text), foldName(name), most) }))
    .filter(({ mistakes }) => mistakes <= most)
    .sort((a, b) => a.mistakes - b.mistakes);
  return best?.name ?? null;
}

/** Letters to add, drop, replace or swap with the next to make one text of the other; `most + 1` for any number above `most`. */
function mistakesBetween(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (last[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swapped = isSwap ? (beforeLast[column - 2] ?? most) + 1 : replaced;
      current.push(Math.min(replaced, swapped, (last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    [beforeLast, last] = [last, current];
  }
  return last[b.length] ?? most + 1;
}
