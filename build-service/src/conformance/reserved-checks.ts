import { CARD_PATH, DATA_PLANE_PATH, LATEST_LEGACY_VERSION, pathOnServer } from "@agent-env/protocol";
import { allOf, type Check, failed, passed, type Subject, skipped, type Verdict } from "./check.ts";
import { dataRequest } from "./data-plane.ts";
import { callsOf } from "./extensions.ts";
import type { Ask } from "./http.ts";
import { siteOf } from "./site.ts";

const UNKNOWN = dataRequest("data/agent-env-conformance");
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: LATEST_LEGACY_VERSION, capabilities: {}, clientInfo: { name: "agent-env-conformance", version: "1" } },
};
const MCP: Ask = { method: "POST", body: INITIALIZE, headers: { accept: "application/json, text/event-stream" } };

/** What is promised of a site's pages at a gateway: nothing that isn't a page is reached there (W3, 3-wire §site). */
export const RESERVED_CHECKS: readonly Check[] = [
  closed("reserved-card", "the card isn't reached through the site's pages", () => [
    [CARD_PATH, {}],
    [CARD_PATH, { method: "POST", body: {} }],
  ]),
  closed("reserved-data", "the data plane isn't reached through the site's pages", ({ card, http }) =>
    [...new Set([DATA_PLANE_PATH, pathOnServer(card.url, [http.base]) ?? DATA_PLANE_PATH])].flatMap((path): Asked[] => [
      [path, { method: "POST", body: UNKNOWN }],
      [path, {}],
    ]),
  ),
  closed("reserved-interfaces", "declared interfaces aren't reached through the site's pages", (subject) =>
    interfacePaths(subject).flatMap((path): Asked[] => [
      [path, MCP],
      [path, {}],
      [`${path.replace(/\/$/, "")}/x`, MCP],
    ]),
  ),
  closed("reserved-extensions", "extension endpoints aren't reached through the site's pages", ({ card }) =>
    (card.capabilities.extensions ?? [])
      .flatMap(callsOf)
      .flatMap(({ endpoint, verb }): Asked[] =>
        endpoint?.startsWith("/") ? [[endpoint, verb === "GET" ? {} : { method: verb, body: [1] }]] : [],
      ),
  ),
  closed("reserved-spellings", "no spelling of a reserved path gets through", (subject) =>
    [...interfacePaths(subject), DATA_PLANE_PATH]
      .flatMap((path) => spellingsOf(path))
      .map((path): Asked => [path, path.toLowerCase().includes("agentenv") ? { method: "POST", body: UNKNOWN } : MCP]),
  ),
];

type Asked = readonly [path: string, ask: Ask];

function closed(id: string, title: string, requests: (subject: Subject) => readonly Asked[]): Check {
  return {
    id,
    group: "reserved paths",
    level: "required",
    title,
    on: ["service"],
    async run(subject): Promise<Verdict> {
      const { through } = subject;
      if (through === null || (await siteOf(subject)) === null) return skipped("it serves no pages");
      const asked = requests(subject);
      if (asked.length === 0) return skipped("the card names none");
      return await allOf(
        asked.map(([path, ask]) => async () => {
          // By hand: joining must not change how a path is spelled.
          const answer = await through.http.ask(`/website/${through.key}${path}`, ask);
          if (answer.status === 401 || answer.status === 403) return skipped("the token isn't good for pages (scope sites)");
          if (answer.status === 404) return passed;
          return failed(answer, { expected: "HTTP 404", fix: "the gateway has to close this path to the site's pages, in every spelling" });
        }),
      );
    },
  };
}

function interfacePaths({ card, http }: Subject): string[] {
  const paths = card.additionalInterfaces.map(({ url }) => pathOnServer(url, [http.base]));
  return [...new Set(paths.filter((path) => path !== null && path !== "/"))].flatMap((path) => (path === null ? [] : [path]));
}

/** Ways to write a path that some server takes for the path itself, and that all have one safe reading. */
function spellingsOf(path: string): string[] {
  const segments = path.split("/");
  const last = segments.at(-1) ?? "";
  const before = segments.slice(0, -1).join("/");
  const hex = [...last].map((char) => `%${char.charCodeAt(0).toString(16)}`);
  const first = (text: string) => `${before}/${text}${last.slice(1)}`;
  return [
    `${path}/`,
    `${before}/${last.toUpperCase()}`,
    first(hex[0] ?? ""),
    first(`%25${(hex[0] ?? "").slice(1)}`),
    `${before}/${hex.join("")}`,
    `${before}/./${last}`,
    `/${path}`,
    `${before}/x/../${last}`,
    `${before}/x/%2e%2e/${last}`,
    `${path};v=1`,
    `${path}.`,
    `${path}%20`,
    `${before}\\${last}`,
    `${path}?x=1`,
  ];
}
