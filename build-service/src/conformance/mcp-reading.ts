import { CARD_PATH, Card, type JsonObject, jsonOf, MCP_TRANSPORT } from "@agent-env/protocol";
import type { Subject } from "./check.ts";
import type { Exchange, Http } from "./http.ts";
import { McpTalk } from "./mcp-talk.ts";
import { once } from "./once.ts";

/** Where a card puts MCP: below the server's own address, on another server, or nowhere. */
export type McpPlace =
  | { readonly is: "none" }
  | { readonly is: "elsewhere"; readonly url: string }
  | { readonly is: "here"; readonly path: string };

/** What MCP at the declared endpoint comes to. */
export type McpReading =
  | Exclude<McpPlace, { readonly is: "here" }>
  | { readonly is: "silent"; readonly exchange: Exchange }
  | { readonly is: "unlisted"; readonly talk: McpTalk; readonly exchange: Exchange; readonly why: string }
  | { readonly is: "open"; readonly talk: McpTalk; readonly exchange: Exchange; readonly tools: readonly JsonObject[] };

/** The card's first `mcp` interface with a URL, as a path below the address that the card was read from. */
export function mcpPlace({ additionalInterfaces }: Card, base: string): McpPlace {
  const declared = additionalInterfaces.find(({ transport, url }) => transport === MCP_TRANSPORT && url !== "")?.url.trim();
  if (declared === undefined) return { is: "none" };
  const root = `${base.replace(/\/$/, "")}/`;
  const isAbsolute = /^([a-z][a-z0-9+.-]*:|[\\/]{2})/i.test(declared);
  const url = URL.parse(isAbsolute ? declared : declared.replace(/^\/+/, ""), root);
  if (url === null || !url.href.startsWith(root)) return { is: "elsewhere", url: declared };
  return { is: "here", path: `/${url.href.slice(root.length)}` };
}

/** MCP as the subject serves it, asked once for all checks. The session is closed when they have been made. */
export const mcpReading = once(async (subject): Promise<McpReading> => {
  const place = mcpPlace(subject.card, subject.http.base);
  if (place.is !== "here") return place;
  const talk = await openTalk(subject, place.path);
  if (!(talk instanceof McpTalk)) return { is: "silent", exchange: talk };
  const listed = await talk.listTools();
  if ("tools" in listed) return { is: "open", talk, exchange: listed.exchange, tools: listed.tools };
  // Resources alone: then there is no such method.
  if (talk.capabilities["tools"] === undefined && listed.failed.status < 500)
    return { is: "open", talk, exchange: listed.failed, tools: [] };
  return { is: "unlisted", talk, exchange: listed.failed, why: listed.why };
});

/** Opens a session that ends with the checks. */
export async function openTalk(
  subject: Subject,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<McpTalk | Exchange> {
  const talk = await McpTalk.open(subject.http, path, headers);
  if (talk instanceof McpTalk) {
    subject.atEnd(async () => {
      await talk.close();
      return null;
    });
  }
  return talk;
}

export function toolNames(tools: readonly JsonObject[]): string[] {
  return tools.map(({ name }) => String(name));
}

/** A server behind a gateway: where its MCP is under `/svc`, and what it lists to this caller. Null where there is none. */
export async function mcpBehind(
  gateway: Http,
  key: string,
): Promise<{ readonly http: Http; readonly path: string; readonly tools: readonly JsonObject[] } | null> {
  const http = gateway.at(`${gateway.base}/svc/${key}`);
  const card = Card.safeParse(jsonOf((await http.ask(CARD_PATH)).text)).data;
  const place = card === undefined ? null : mcpPlace(card, http.base);
  const talk = place?.is === "here" ? await McpTalk.open(http, place.path) : null;
  if (!(talk instanceof McpTalk)) return null;
  const listed = await talk.listTools();
  await talk.close();
  return "tools" in listed ? { http, path: talk.path, tools: listed.tools } : null;
}
