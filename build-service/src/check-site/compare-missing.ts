import { nameOf } from "./compare-requests.ts";
import { isRefused } from "./compare-state.ts";
import type { Found } from "./findings.ts";
import { type HostView, hasFailed } from "./host-view.ts";
import { placeOf, reached } from "./site-address.ts";
import type { PageRecord, Sent, Socket, WalkRecord } from "./walk-record.ts";

/** Something that a script of a page has asked its site for. */
type Asked = { readonly what: string; readonly path: string; readonly how: string; readonly at: Found["at"]; readonly page: string };

/**
 * What scripts ask for in host mode on pages that are alike, by their keys, and no page under the prefix asks for: the scripts
 * have stopped there, though what the server made still looks right.
 */
export function missingFindings(alike: readonly string[], walk: WalkRecord, host: HostView): Found[] {
  const under = new Set(walk.pages.flatMap((page) => [...page.sent, ...page.sockets].map(({ url }) => pathOf(url, walk))));
  const there = (of: WalkRecord) => of.pages.filter(({ key }) => alike.includes(key)).flatMap((page) => askedBy(page, of));
  const inAll = new Set(host.inAll((of) => there(of).map(({ path }) => path)));
  const missing = host.walks
    .slice(0, 1)
    .flatMap(there)
    .filter(({ path }) => inAll.has(path) && !under.has(path));
  const once = missing.filter(({ path }, index) => missing.findIndex((other) => other.path === path) === index);
  return once.map(({ what, path, how, at, page }) => ({
    kind: "missing",
    mode: walk.mode,
    page,
    text: `${what} ${path}: ${how} in host mode, and never under the prefix`,
    at,
    layer: null,
  }));
}

function askedBy(page: PageRecord, walk: WalkRecord): Asked[] {
  const asked = ({ url, at }: Sent | Socket, what: string, how: string): Asked[] => {
    const path = pathOf(url, walk);
    return path === null ? [] : [{ what, path, how, at: placeOf(at, walk), page: page.path }];
  };
  return [
    ...page.sockets.filter((socket) => !isRefused(socket)).flatMap((socket) => asked(socket, "socket", "opened")),
    ...page.sent
      .filter((sent) => sent.by === "script" && !sent.isPage && !hasFailed(sent))
      .flatMap((sent) => asked(sent, nameOf(sent), "asked for")),
  ];
}

/** Without its query, which may be another each time; null for what isn't the site's. */
function pathOf(url: string, walk: WalkRecord): string | null {
  const where = reached(url, walk);
  return where.is === "elsewhere" ? null : (where.path.split("?")[0] ?? "");
}
