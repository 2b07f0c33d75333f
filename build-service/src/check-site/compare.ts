import { missingFindings } from "./compare-missing.ts";
import { isBroken, loopOf, pageFindings } from "./compare-pages.ts";
import { requestFindings } from "./compare-requests.ts";
import { cookieFindings, socketFindings, workerFindings } from "./compare-state.ts";
import type { Found } from "./findings.ts";
import { failureText, HostView, hasFailed } from "./host-view.ts";
import { reached } from "./site-address.ts";
import type { PageRecord, WalkRecord } from "./walk-record.ts";

/** Findings that rest on what host mode shows: something that changes by itself may look like one. */
const RESTS_ON_HOST = new Set<Found["kind"]>([
  "wrong-asset",
  "failed-load",
  "console-error",
  "text-differs",
  "missing",
  "socket",
  "event-source",
]);

/** Whether another walk in host mode could show that a finding is none. */
export function needsSecondLook(found: readonly Found[]): boolean {
  return found.some(({ kind }) => RESTS_ON_HOST.has(kind));
}

/** What is wrong under a prefix, compared with walks in host mode; without any, what is wrong by itself. */
export function compare(hosts: readonly WalkRecord[], walk: WalkRecord): Found[] {
  const host = new HostView(hosts);
  const ofPages = walk.pages.map((page) => ({
    page,
    found: [
      ...requestFindings(page, walk, host),
      ...pageFindings(page, walk, host),
      ...socketFindings(page, walk, host),
      ...workerFindings(page, walk, host),
    ],
  }));
  // Of a page that is found to differ it is no news that its scripts do something else.
  const alike = ofPages.flatMap(({ page, found }) => (found.length === 0 ? [page.key] : []));
  return [...ofPages.flatMap(({ found }) => found), ...missingFindings(alike, walk, host), ...cookieFindings(walk, host)];
}

/** Pages whose policy keeps the gateway's script out: a finding where something on them needed it, else a note. */
export function policyFindings(walk: WalkRecord, found: readonly Found[]): { readonly findings: Found[]; readonly notes: string[] } {
  const kept = walk.pages.filter(({ hasShim, hasPolicy }) => hasPolicy && !hasShim);
  const needing = kept.filter(({ path }) => found.some(({ page, layer }) => page === path && layer === "L4"));
  const others = [...new Set(kept.filter((page) => !needing.includes(page)).map(({ path }) => path))];
  return {
    findings: needing.map(({ path: page }) => ({
      kind: "policy",
      mode: walk.mode,
      page,
      text: "its Content-Security-Policy forbids the shim: what scripts make is not put under the prefix",
      at: null,
      layer: "L4",
    })),
    notes: others.length === 0 ? [] : [`the Content-Security-Policy of ${listed(others)} forbids the shim, and nothing there needed it`],
  };
}

/** What is wrong with a site on a host of its own: its start page, and the scripts that make it, are not there. */
export function brokenFindings(walk: WalkRecord): Found[] {
  const start = walk.pages.find(({ key }) => key === "/");
  if (start === undefined) return [];
  const common = { mode: walk.mode, page: "/", at: null, layer: null } as const;
  const loop = loopOf(start);
  if (loop !== null) return [{ ...common, kind: "redirect-loop", text: `page / goes round in circles: ${loop}` }];
  if (isBroken(start)) return [{ ...common, kind: "failed-load", text: `page /: ${failureText(start)}` }];
  return ownFailures(start, walk)
    .filter(({ type }) => type === "script")
    .map(({ path, why }) => ({ ...common, kind: "failed-load", text: `script ${path}: ${why}` }));
}

/** What else of a site isn't there in host mode, and is no matter of a prefix. */
export function hostNotes(walk: WalkRecord): string[] {
  const failing = walk.pages.flatMap((page) =>
    ownFailures(page, walk).map(({ type, path, why }) => `in host mode too: ${type} ${path}: ${why}`),
  );
  const troubled = walk.pages.flatMap(({ key, troubles }) =>
    troubles.map(({ text }) => `in host mode too: page ${key} says ${JSON.stringify(text.slice(0, 200))}`),
  );
  return [...new Set([...failing, ...troubled])];
}

/** Hosts that pages asked, beside the site's own. */
export function elsewhere(walk: WalkRecord): string[] {
  const urls = walk.pages.flatMap(({ sent, sockets }) => [...sent, ...sockets].map(({ url }) => URL.parse(url)));
  const { host } = new URL(walk.base);
  return [
    ...new Set(urls.flatMap((url) => (url === null || url.host === host || !/^(https?|wss?):$/.test(url.protocol) ? [] : [url.origin]))),
  ].sort();
}

function ownFailures(page: PageRecord, walk: WalkRecord): { readonly type: string; readonly path: string; readonly why: string }[] {
  return page.sent.flatMap((sent) => {
    const where = reached(sent.url, walk);
    const isOwn = where.is === "site" && !(sent.by === "browser" && where.path === "/favicon.ico");
    return isOwn && hasFailed(sent) ? [{ type: sent.type, path: where.path, why: failureText(sent) }] : [];
  });
}

function listed(paths: readonly string[]): string {
  const shown = paths.slice(0, 3).join(", ");
  return paths.length > 3 ? `${shown} and ${paths.length - 3} more` : shown;
}
