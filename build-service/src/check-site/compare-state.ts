import { type Found, LAYER_OF } from "./findings.ts";
import type { HostView } from "./host-view.ts";
import { placeOf, prefixOf, reached, type SiteAddress } from "./site-address.ts";
import type { Cookie, PageRecord, Socket, WalkRecord, Worker } from "./walk-record.ts";

/** The gateway's own cookie for pages, and its name before those of the site's that a browser guards. */
const PAGE_COOKIE = "agentenv_page";
const RENAMED = /^agentenv-(?=__(host|secure)-)/i;

/** What is wrong with the WebSockets of one page under a prefix. */
export function socketFindings(page: PageRecord, address: SiteAddress, host: HostView): Found[] {
  return page.sockets.flatMap((socket): Found[] => {
    const where = reached(socket.url, address);
    const common = {
      kind: "socket",
      mode: address.mode,
      page: page.path,
      at: placeOf(socket.at, address),
      layer: LAYER_OF[socket.by],
    } as const;
    if (where.is === "elsewhere") return [];
    if (where.is === "root")
      return [{ ...common, text: `socket ${where.path} left the prefix: ${socketEnd(socket)} at the gateway's root` }];
    const opensThere =
      host.isKnown && host.walks.every((walk) => walk.pages.some(({ sockets }) => sockets.some((other) => opens(other, where.path, walk))));
    return isRefused(socket) && opensThere
      ? [{ ...common, text: `socket ${where.path}: ${socketEnd(socket)}, and only under the prefix` }]
      : [];
  });
}

/** What is wrong with the service workers of one page under a prefix. */
export function workerFindings(page: PageRecord, address: SiteAddress, host: HostView): Found[] {
  return page.workers.flatMap((worker): Found[] => {
    const where = reached(worker.script, address);
    const common = { kind: "service-worker", mode: address.mode, page: page.path, at: placeOf(worker.at, address), layer: "L4" } as const;
    if (where.is === "elsewhere") return [];
    if (where.is === "root")
      return [{ ...common, text: `service worker ${where.path} left the prefix${worker.failure === null ? "" : `: ${worker.failure}`}` }];
    const worksThere = host.inAll(registered).includes(where.path);
    return worker.failure !== null && worksThere
      ? [{ ...common, text: `service worker ${where.path}: ${worker.failure}, and only under the prefix` }]
      : [];
  });
}

/** Cookies that a prefix loses, or that reach beyond it. */
export function cookieFindings(walk: WalkRecord, host: HostView): Found[] {
  const address: SiteAddress = walk;
  const own = cookiesOf(walk);
  const outside = own.filter(({ path }) => !`${path}/`.startsWith(`${prefixOf(address)}/`));
  const inside = new Set(own.map(({ name }) => name.replace(RENAMED, "")));
  const lost = host.inAll((there) => cookiesOf(there).map(({ name }) => name)).filter((name) => !inside.has(name));
  return [
    ...outside.map((cookie): Found => {
      const by = setter(walk, cookie.name);
      const how = by.page === null ? "" : " set by script";
      const common = { kind: "cookie-outside", mode: walk.mode, page: by.page ?? "/", at: by.at } as const;
      return {
        ...common,
        text: `cookie ${cookie.name}, path=${cookie.path}${how} reaches beyond the prefix`,
        layer: by.page === null ? "L1" : "L4",
      };
    }),
    ...lost.map((name): Found => {
      const by = setter(walk, name);
      const common = { kind: "cookie-lost", mode: walk.mode, page: by.page ?? "/", at: by.at } as const;
      return { ...common, text: `cookie ${name} is stored in host mode, and not under the prefix`, layer: by.page === null ? "L1" : "L4" };
    }),
  ];
}

/** The paths of the service workers that a walk's pages have. */
function registered(walk: WalkRecord): string[] {
  const workers: readonly Worker[] = walk.pages.flatMap((page) => page.workers);
  return workers.flatMap(({ script, failure }) => {
    const where = reached(script, walk);
    return failure === null && where.is === "site" ? [where.path] : [];
  });
}

/** The first page whose script set a cookie of that name. */
function setter(walk: WalkRecord, name: string): { readonly page: string | null; readonly at: Found["at"] } {
  for (const page of walk.pages) {
    const found = page.scriptCookies.find((cookie) => cookie.name === name || cookie.name === name.replace(RENAMED, ""));
    if (found !== undefined) return { page: page.path, at: placeOf(found.at, walk) };
  }
  return { page: null, at: null };
}

function cookiesOf(walk: WalkRecord): Cookie[] {
  const { hostname } = new URL(walk.base);
  return walk.cookies.filter(({ name, host }) => host.replace(/^\./, "") === hostname && !name.startsWith(PAGE_COOKIE));
}

function opens(socket: Socket, path: string, address: Pick<SiteAddress, "base">): boolean {
  const where = reached(socket.url, address);
  return where.is === "site" && where.path === path && !isRefused(socket);
}

/** Whether a socket could not be opened. */
export function isRefused({ status, failure }: Socket): boolean {
  return failure !== null || (status !== null && status !== 101);
}

function socketEnd({ status, failure }: Socket): string {
  if (status === 101) return "it opened";
  return status === null ? (failure ?? "no answer") : `refused with ${status}`;
}
