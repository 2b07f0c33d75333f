import { foldName } from "./fold.ts";

/** One mistake in so many characters still reads as the same word. */
const CHARACTERS_A_MISTAKE = 4;

/**
 * The known name that `text` was probably meant to be: the one with the fewest mistakes, of at most one in four characters of the
 * longer of the two. Null where none is that close.
 */
export function nearName(text: string, known: readonly string[]): string | null {
  const [best] = known
    .map((name) => ({ name, ...mistakes(foldName(text), foldName(name)) }))
    .filter(({ count, most }) => count <= most)
    .sort((a, b) => a.count - b.count);
  return best?.name ?? null;
}

function mistakes(a: string, b: string): { readonly count: number; readonly most: number } {
  const most = Math.floor(Math.max(a.length, b.length) / CHARACTERS_A_MISTAKE);
  return { count: mistakesBetween(a, b, most), most };
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
