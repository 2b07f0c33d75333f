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
    ...needReasons(before, now),
    ...storeRefReasons(before.store_refs, now.store_refs),
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
function needReasons(before: LedgerInputs, now: LedgerInputs): string[] {
  const had = { ...before.store_refs, ...before.needs };
  const has = { ...now.store_refs, ...now.needs };
  const anew = Object.keys(now.needs).filter((key) => key in had && had[key] !== has[key]);
  const gained = Object.keys(has).filter((key) => !(key in had));
  const lost = Object.keys(had).filter((key) => !(key in has));
  return [
    ...anew.toSorted(byCodePoint).map((key) => `${key} is written anew (v${had[key]} → v${has[key]})`),
    ...gained.toSorted(byCodePoint).map((key) => `now needs ${key}`),
    ...lost.toSorted(byCodePoint).map((key) => `no longer needs ${key}`),
  ];
}

function storeRefReasons(before: Texts, now: Texts): string[] {
  return Object.keys(now)
    .filter((key) => key in before && before[key] !== now[key])
    .toSorted(byCodePoint)
    .map((key) => `${key} has a new version in the store (v${before[key]} → v${now[key]})`);
}
