import { type Found, LAYER_OF } from "./findings.ts";
import { failureText, type HostView, hasFailed } from "./host-view.ts";
import { placeOf, reached, type SiteAddress } from "./site-address.ts";
import { isPath, type PageRecord } from "./walk-record.ts";

/** A page that opens the same address so often goes round in circles. */
const ROUNDS = 6;
const LOOP = "net::ERR_TOO_MANY_REDIRECTS";

/** What becomes of one page under a prefix, compared with host mode: whether it opens, what it shows, what its console says. */
export function pageFindings(page: PageRecord, address: SiteAddress, host: HostView): Found[] {
  const common = { mode: address.mode, page: page.path } as const;
  const loop = loopOf(page);
  if (loop !== null) {
    const isSame = host.some(page.key, (other) => loopOf(other) !== null);
    return isSame
      ? []
      : [{ ...common, kind: "redirect-loop", text: `page ${page.key} goes round in circles: ${loop}`, at: null, layer: "L1" }];
  }
  const there = host.pages(page.key);
  const opened = there.length === 0 ? [] : openFindings(page, address, there);
  const isOpen = !isBroken(page) && there.length > 0;
  return [
    ...linkFindings(page, address),
    ...opened,
    ...(isOpen ? [...textFindings(page, address, there), ...troubleFindings(page, address, host)] : []),
  ];
}

/** What of a page makes it none: why it could not be opened, or an error's status. */
export function isBroken(page: Pick<PageRecord, "failure" | "status">): boolean {
  return page.failure !== null || hasFailed(page);
}

/** Where a page goes round, or null. */
export function loopOf({ failure, sent }: PageRecord): string | null {
  if (failure === LOOP) {
    const { redirectTo, url } = sent.findLast(({ isPage, redirectTo }) => isPage && redirectTo !== null) ?? { redirectTo: null, url: "" };
    return `${pathIn(url)} redirects to ${pathIn(redirectTo ?? "")}`;
  }
  const times = new Map<string, number>();
  for (const { isPage, url } of sent) if (isPage) times.set(url, (times.get(url) ?? 0) + 1);
  const [round] = [...times].find(([, count]) => count >= ROUNDS) ?? [];
  return round === undefined ? null : `${pathIn(round)} is opened again and again`;
}

function openFindings(page: PageRecord, address: SiteAddress, there: readonly PageRecord[]): Found[] {
  const common = { mode: address.mode, page: page.path, at: null } as const;
  if (page.failure !== null && there.every(({ failure }) => failure === null)) {
    const isAct = !isPath(page.key);
    const text = isAct ? `${page.key} of the act script: ${page.failure}, and only under the prefix` : `page ${page.key}: ${page.failure}`;
    return [{ ...common, kind: isAct ? "act-failed" : "failed-load", text, layer: null }];
  }
  const last = page.sent.findLast(({ isPage }) => isPage);
  // A page that was lost at the root has been told with its request.
  const isLost = last !== undefined && reached(last.url, address).is === "root";
  if (isLost) return [];
  if (hasFailed(page) && !there.some(hasFailed)) {
    const layer = last === undefined ? null : LAYER_OF[last.by];
    return [{ ...common, kind: "failed-load", text: `page ${page.key}: ${failureText(page)}, and only under the prefix`, layer }];
  }
  const ends = there.map(({ path }) => path);
  if (page.failure !== null || ends.includes(page.path)) return [];
  return [
    { ...common, kind: "lost-navigation", text: `page ${page.key} ends at ${page.path}, and in host mode at ${ends[0]}`, layer: "L4" },
  ];
}

function linkFindings(page: PageRecord, address: SiteAddress): Found[] {
  return page.links.flatMap((link): Found[] => {
    const where = reached(link, address);
    if (where.is !== "root") return [];
    const text = `link ${where.path} leads out of the prefix`;
    return [{ kind: "escape", mode: address.mode, page: page.path, text, at: null, layer: page.hasShim ? "L3" : "L4" }];
  });
}

function textFindings(page: PageRecord, address: SiteAddress, there: readonly PageRecord[]): Found[] {
  const texts = there.map(({ title, text }) => [title, ...text]);
  const shown = [page.title, ...page.text];
  const [first = [], ...others] = texts;
  const stable = first.filter((line) => others.every((text) => text.includes(line)));
  const missing = stable.find((line) => !shown.includes(line));
  const extra = shown.filter((line) => texts.every((text) => !text.includes(line)));
  // So many lines change by themselves.
  const changing = Math.max(...texts.map((text) => text.length)) - stable.length;
  if (missing === undefined && extra.length <= changing) return [];
  const text = `page ${page.key}: ${quoted(missing)} in host mode, ${quoted(extra[0])} under the prefix`;
  return [{ kind: "text-differs", mode: address.mode, page: page.path, text, at: null, layer: null }];
}

function troubleFindings(page: PageRecord, address: SiteAddress, host: HostView): Found[] {
  return page.troubles
    .filter(({ text }) => !host.some(page.key, ({ troubles }) => troubles.some((other) => other.text === text)))
    .map(({ text, at }) => ({
      kind: "console-error",
      mode: address.mode,
      page: page.path,
      text: `${text.slice(0, 300)} (only under the prefix)`,
      at: placeOf(at, address),
      layer: null,
    }));
}

function quoted(line: string | undefined): string {
  return line === undefined ? "nothing" : JSON.stringify(line.slice(0, 120));
}

function pathIn(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? url : parsed.pathname + parsed.search;
}
