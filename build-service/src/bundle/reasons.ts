import { byCodePoint } from "./code-points.ts";
import type { LedgerInputs } from "./ledger.ts";
import { shownText } from "./shown.ts";

const LISTED = 5;

/** What has changed between the inputs of two versions, a reason each (4-bundle §9.3). Empty when nothing has. */
export function changeReasons(before: LedgerInputs, now: LedgerInputs): string[] {
  return [
    ...(before.type === now.type ? [] : [`type changed: ${before.type} → ${now.type}`]),
    ...(before.config === now.config ? [] : ["config changed"]),
    ...fileReasons(before.files, now.files),
    ...versionReasons(before, now),
  ];
}

type Texts = Readonly<Record<string, string>>;

function fileReasons(before: Texts, now: Texts): string[] {
  const added = Object.keys(now).filter((path) => !Object.hasOwn(before, path));
  const removed = Object.keys(before).filter((path) => !Object.hasOwn(now, path));
  const changed = Object.keys(now).filter((path) => Object.hasOwn(before, path) && before[path] !== now[path]);
  const shownChange = (path: string): string => (isModeChange(before[path], now[path]) ? `${path} (mode)` : path);
  return [
    ...listedFiles("files added", added),
    ...listedFiles("files removed", removed),
    ...listedFiles("files changed", changed, shownChange),
  ];
}

/** Same bytes, and the executable bit is what differs. */
function isModeChange(before = "", now = ""): boolean {
  return before.replace("+x", "") === now.replace("+x", "");
}

function listedFiles(label: string, paths: readonly string[], show: (path: string) => string = (path) => path): string[] {
  if (paths.length === 0) return [];
  const shown = paths.toSorted(byCodePoint).slice(0, LISTED).map(show).map(shownText);
  const more = paths.length > LISTED ? ` and ${paths.length - LISTED} more` : "";
  return [`${label}: ${shown.join(", ")}${more}`];
}

/** A thing that moves between the bundle and the store is needed before and after: its key stands in one of the two. */
function versionReasons(before: LedgerInputs, now: LedgerInputs): string[] {
  const had = { ...before.store_refs, ...before.needs };
  const has = { ...now.store_refs, ...now.needs };
  const changed = (table: Texts): string[] =>
    Object.keys(table)
      .filter((key) => Object.hasOwn(had, key) && had[key] !== table[key])
      .toSorted(byCodePoint);
  const missing = (from: Texts, table: Texts): string[] =>
    Object.keys(table)
      .filter((key) => !Object.hasOwn(from, key))
      .toSorted(byCodePoint);
  const versions = (key: string): string => `(v${had[key]} → v${has[key]})`;
  return [
    ...changed(now.needs).map((key) => `${key} is written anew ${versions(key)}`),
    ...missing(had, has).map((key) => `now needs ${key}`),
    ...missing(has, had).map((key) => `no longer needs ${key}`),
    ...changed(now.store_refs).map((key) => `${key} has a new version in the store ${versions(key)}`),
  ];
}
