import type { Problem } from "@agent-env/protocol";
import { shownText } from "./shown.ts";

/** A thing to be written, and what must be written before it. */
export type Ordered = { readonly key: string; readonly entryPath: string; readonly needs: readonly string[] };

/** `items` (in bundle order) so that each comes after what it needs, ties by bundle order; loops as problems (4-bundle §7.2–3). */
export function writeOrder<Item extends Ordered>(
  items: readonly Item[],
): { readonly ordered: readonly Item[]; readonly problems: readonly Problem[] } {
  const known = new Set(items.map(({ key }) => key));
  const written = new Set<string>();
  const ordered: Item[] = [];
  let waiting = [...items];
  while (waiting.length > 0) {
    const next = waiting.find(({ needs }) => needs.every((need) => written.has(need) || !known.has(need)));
    if (next === undefined) return { ordered, problems: [loopProblem(waiting)] };
    ordered.push(next);
    written.add(next.key);
    waiting = waiting.filter((item) => item !== next);
  }
  return { ordered, problems: [] };
}

/** A shortest loop among items that all wait for each other. */
function loopProblem(waiting: readonly Ordered[]): Problem {
  const byKey = new Map(waiting.map((item) => [item.key, item]));
  const loops = waiting.map((item) => pathBack(item, byKey)).filter((path) => path !== null);
  const shortest = loops.reduce((best, path) => (path.length < best.length ? path : best), loops[0] ?? waiting);
  const [first] = shortest;
  const names = [...shortest, ...(first === undefined ? [] : [first])].map(({ entryPath }) => entryPath);
  return { code: "loop", path: shownText(first?.entryPath ?? ""), message: `needs itself: ${names.join(" -> ")}` };
}

/** The shortest way from an item over its needs back to itself, without the return; null when there is none. */
function pathBack(start: Ordered, byKey: ReadonlyMap<string, Ordered>): readonly Ordered[] | null {
  let paths: (readonly Ordered[])[] = [[start]];
  const seen = new Set<string>();
  while (paths.length > 0) {
    const longer: (readonly Ordered[])[] = [];
    for (const path of paths) {
      for (const need of path.at(-1)?.needs ?? []) {
        if (need === start.key) return path;
        const item = byKey.get(need);
        if (item === undefined || seen.has(need)) continue;
        seen.add(need);
        longer.push([...path, item]);
      }
    }
    paths = longer;
  }
  return null;
}
