import { foldName, type Problem } from "@agent-env/protocol";
import type { Bundle, Entry } from "./bundle.ts";
import { entryOf, type ResolvedEntry, writeKey } from "./resolved.ts";
import { listed, shownText } from "./shown.ts";

export type Selection = { readonly tasks: readonly string[]; readonly evals: readonly string[] };

export type Selected = {
  /** All that the selection reaches, in bundle order. */
  readonly reached: readonly ResolvedEntry[];
  readonly problems: readonly Problem[];
  /** Paths of tasks that neither the selection nor one of its evals names. */
  readonly leftOut: readonly string[];
};

/** What of a bundle a run is about (4-bundle §7.1): the named tasks and evals, else every eval, else every task. */
export function selectEntries(bundle: Bundle, entries: readonly ResolvedEntry[], selection: Selection): Selected {
  const tasks = entries.filter(({ entry }) => entry.kind === "task");
  const evals = entries.filter(({ entry }) => entry.kind === "eval");
  if (tasks.length === 0 && evals.length === 0) {
    const message = "has no task and no eval to run: add tasks/<name>.json; `agent-env bundle check` checks a bundle without any";
    return { reached: [], problems: [{ code: "nothing-to-run", path: shownText(bundle.disk), message }], leftOut: [] };
  }
  const named = [...chosen("--task", selection.tasks, tasks), ...chosen("--eval", selection.evals, evals)];
  const problems = named.filter((item) => "code" in item);
  const asked = named.filter((item) => "entry" in item);
  const isAsked = selection.tasks.length > 0 || selection.evals.length > 0;
  const roots = isAsked ? asked : evals.length > 0 ? evals : tasks;
  const reached = reach(entries, roots);
  const leftOut = tasks.filter((task) => !reached.includes(task)).map(({ entry }) => entry.path);
  return { reached, problems, leftOut };
}

function chosen(option: string, texts: readonly string[], among: readonly ResolvedEntry[]): (ResolvedEntry | Problem)[] {
  return texts.map((raw) => {
    const text = raw.normalize("NFC");
    const found = among.find(({ entry }) => entry.name === text || entry.id === text);
    return (
      found ??
      notSelectable(
        option,
        text,
        among.map(({ entry }) => entry),
      )
    );
  });
}

function notSelectable(option: string, text: string, among: readonly Entry[]): Problem {
  const near = among.find(({ name }) => foldName(name) === foldName(text));
  const names = among.length === 0 ? "it has none" : `there are ${listed(among.map(({ name }) => name))}`;
  const message =
    near === undefined
      ? `is not in this bundle: ${names}`
      : `is not in this bundle, but ${JSON.stringify(near.name)} is: names are case-sensitive`;
  return { code: "no-selection", path: `${option} '${shownText(text)}'`, message };
}

/** The roots and all that they need, directly or not. */
function reach(entries: readonly ResolvedEntry[], roots: readonly ResolvedEntry[]): ResolvedEntry[] {
  const found = new Set<ResolvedEntry>(roots);
  for (const entry of found) {
    for (const { target } of entry.refs) {
      const next = target.in === "bundle" ? entryOf(entries, writeKey(target.kind, target.id)) : undefined;
      if (next !== undefined) found.add(next);
    }
  }
  return entries.filter((entry) => found.has(entry));
}
