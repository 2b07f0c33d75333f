import {
  CARD_PATH,
  type Card,
  cardPaths,
  DATA_PLANE_PATH,
  type DeployedServer,
  MCP_TRANSPORT,
  pathOnServer,
  type Segments,
} from "@agent-env/protocol";
import type { UpstreamServer } from "../mcp/upstream-server.ts";
import type { SiteDefects } from "../proxy/site/defects.ts";
import { type CardFacts, endpointOf, siteOrigins } from "../view.ts";
import type { ServedCard } from "./card-reading.ts";

/** What the deployment knows of one of its servers. */
export type Backing = {
  readonly server: DeployedServer;
  /** Once it is known where it is. */
  mcp: UpstreamServer | null;
  /** The last card read; kept while the server is away. */
  served: ServedCard | null;
  /** A site: whether its card was settled, one way or the other. */
  isSettled: boolean;
  cardReadAtMs: number;
  /** Why its card couldn't be read the last time. */
  cardTrouble: string | null;
  sinceMs: number;
  readonly warnings: Set<string>;
  /** A site: what it does that a prefix can't carry. */
  readonly defects: SiteDefects;
  /** Over all cards that this deployment has read from it. */
  readonly reserved: Map<string, Segments>;
};

/** Every page host is closed at these, whatever a card says. */
const ALWAYS_RESERVED = [CARD_PATH, DATA_PLANE_PATH, "/cdn-cgi"];

/** A server's own addresses: what an absolute URL on its card may name. */
export function ownOrigins(server: DeployedServer): string[] {
  if (server.kind === "website") return siteOrigins(server);
  return [...new Set([new URL(server.url).origin, new URL(endpointOf(server)).origin])];
}

/** What of a backing the routing view needs. */
export function factsOf(backing: Backing): CardFacts {
  const { server, served } = backing;
  const before = backing.reserved.size === 0 ? cardPaths("/mcp", []) : [];
  const always = ALWAYS_RESERVED.flatMap((path) => cardPaths(path, []));
  return { guarded: guardedPaths(server, served?.card), reserved: [...always, ...before, ...backing.reserved.values()] };
}

/** Where a server speaks MCP: its configured path, its card's interfaces, and `/mcp` of an MCP server. */
function guardedPaths(server: DeployedServer, card: Card | undefined): Segments[] {
  const origins = ownOrigins(server);
  const declared = (card?.additionalInterfaces ?? []).filter(({ transport, url }) => transport === MCP_TRANSPORT && url !== "");
  const fromCard = declared.flatMap(({ url }) => cardPaths(url, origins));
  if (server.kind === "website") return fromCard;
  const base = new URL(server.url).pathname.replace(/\/$/, "");
  const configured = new URL(endpointOf(server)).pathname;
  const belowBase = configured.startsWith(`${base}/`) ? configured.slice(base.length) : configured;
  return [...cardPaths("/mcp", []), ...cardPaths(belowBase, []), ...fromCard];
}

/** Every path that a site's card reserves: the data plane, extensions, interfaces of any transport. */
export function reservedPaths(card: Card, origins: readonly string[]): Segments[] {
  const extensions = card.capabilities.extensions ?? [];
  const endpoints = extensions.flatMap(({ params }) => [params?.["endpoint"], ...methodEndpoints(params?.["methods"])]);
  const urls = [card.url, ...endpoints, ...card.additionalInterfaces.map(({ url }) => url)];
  return urls.flatMap((url) => (typeof url === "string" && url !== "" ? cardPaths(url, origins) : []));
}

function methodEndpoints(methods: unknown): unknown[] {
  if (typeof methods !== "object" || methods === null) return [];
  return Object.values(methods).map((method: unknown) =>
    typeof method === "object" && method !== null && "endpoint" in method ? method.endpoint : undefined,
  );
}

/** Where a site's card says it speaks MCP: an address of its own, `elsewhere`, or null for no such interface. */
export function declaredEndpoint(server: DeployedServer, card: Card): { url: string } | "elsewhere" | null {
  const declared = card.additionalInterfaces.find(({ transport, url }) => transport === MCP_TRANSPORT && url !== "");
  if (declared === undefined) return null;
  const path = pathOnServer(declared.url, ownOrigins(server));
  return path === null ? "elsewhere" : { url: `${server.url.replace(/\/$/, "")}${path}` };
}
