import type { Seen } from "../deployment/deployment.ts";
import { KINDS, LIST_KINDS } from "./item-kinds.ts";
import type { Requests } from "./requests.ts";

/** How lists looked to one client: by the notification that tells of a change. */
export type Looks = ReadonlyMap<string, string>;

/** How the lists look to a client now. */
export function looksTo(requests: Requests, seen: Seen, role: string): Looks {
  const looks = new Map<string, string>();
  for (const kind of LIST_KINDS) {
    const { changed } = KINDS[kind];
    looks.set(changed, (looks.get(changed) ?? "") + JSON.stringify(requests.shown(kind, seen, role)));
  }
  return looks;
}

/** The notifications that tell of what has changed in between. */
export function changedBetween(before: Looks, after: Looks): string[] {
  return [...after].filter(([method, look]) => before.get(method) !== look).map(([method]) => method);
}
