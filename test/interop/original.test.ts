import { isJsonObject } from "@agent-env/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { endHosts, HOSTS, type RecordInput } from "../fixtures/gateway/hosts.ts";
import { startNodeHost } from "../fixtures/gateway/node-host.ts";
import { newSigner } from "../fixtures/gateway/tokens.ts";
import {
  type ItemsAndShop,
  itemsAndShop,
  originalClient,
  originalGateway,
  type WrittenWith,
} from "../fixtures/interop/original-environments.ts";
import type { ServerProcess } from "../fixtures/interop/server-process.ts";

type Got = Readonly<Record<string, unknown>>;
/** Servers behind the original's gateway, and what the original's client gets of them there. */
type Setting = { readonly servers: ItemsAndShop; readonly theirs: ServerProcess; readonly expected: Got };

const KINDS: readonly WrittenWith[] = ["the original's SDK", "our SDK"];
const settings = new Map<WrittenWith, Setting>();

beforeAll(async () => {
  for (const kind of KINDS) {
    const servers = await itemsAndShop(kind);
    const theirs = await originalGateway(servers);
    settings.set(kind, { servers, theirs, expected: await originalClient(theirs.url) });
  }
});
afterAll(async () => {
  await Promise.all([endHosts(), ...[...settings.values()].flatMap(({ servers, theirs }) => [theirs.stop(), servers.stop()])]);
});

function settingOf(kind: WrittenWith): Setting {
  const setting = settings.get(kind);
  if (setting === undefined) throw new Error(`nothing was started with ${kind}`);
  return setting;
}

function recordOf({ items, shop }: ItemsAndShop): RecordInput {
  return {
    servers: [
      { name: "items", kind: "mcp", url: items.url },
      { name: "shop", kind: "website", url: shop.url, frontend_url: shop.url },
    ],
  };
}

describe.each(KINDS)("the original's client, with servers written with %s", (kind) => {
  test("works with the original's gateway", () => {
    expect(settingOf(kind).expected).toMatchObject({
      "speaks v1": true,
      tools: {
        protocol: "2025-11-25",
        results: {
          items_add: { content: [{ type: "text", text: "added lamp" }], isError: false },
          items_fail: { content: [{ text: "out_of_stock: nothing left" }], isError: true },
          items_secret: { content: [{ text: "Tool 'items_secret' is disabled for role 'alice'" }], isError: true },
          shop_order: { content: [{ text: "ordered tea" }] },
        },
      },
      export: { parts: [{ kind: "data", data: { items: [{ title: "lamp", kind: "b", by: "alice" }] } }] },
      "not taken": { failed: "data/add failed: only data parts are taken ({'code': 'add_failed'})" },
      extension: { on: false, role: null },
      "extension that fails": { code: "told_to", applied: "no", hint: "say off" },
      time: { virtual_time: "2031-05-01T12:00:00Z" },
      page: { status: 200, text: "<title>Shop</title><p>2 orders</p>" },
    });
  });

  test.each(HOSTS)("G1 gets of ours, host $host, what it gets of the original's gateway", async ({ start }) => {
    const { servers, expected } = settingOf(kind);
    const ours = await start({ record: recordOf(servers) });
    try {
      expect(common(await originalClient(ours.base))).toEqual(common(expected));
    } finally {
      await ours.stop();
    }
  });

  test("N4 with tokens on, its tool client works with one in its headers; what can send none is refused", async () => {
    const { servers, expected } = settingOf(kind);
    const signer = await newSigner();
    const record = { ...recordOf(servers), auth: { mode: "token" as const, keys: [signer.jwk] } };
    const ours = await startNodeHost({ record });
    try {
      const token = await signer.sign({ aud: ours.deployment, role: "alice", scope: "tools" });
      const got = await originalClient(ours.base, token);
      expect(common(got)).toEqual(common({ "speaks v1": false, tools: expected["tools"], card: { status: 401 } }));
    } finally {
      await ours.stop();
    }
  });
});

test("our SDK's servers answer through the original's gateway as the original's own do", () => {
  expect(plain(settingOf("our SDK").expected)).toEqual(plain(settingOf("the original's SDK").expected));
});

/** What both gateways give alike: each adds something that no client of the original looks at. */
function common(got: unknown): unknown {
  return changed(got, (key, value) => {
    if (key === "title" && value === "list_website_urlsArguments") return undefined;
    // A modern server says who it is with every result, and ours passes that on.
    return key === "_meta" && isJsonObject(value) && "io.modelcontextprotocol/serverInfo" in value ? undefined : value;
  });
}

/** What remains where two libraries say one thing each in their own way: titles of schemas, and the words for a wrong parameter. */
function plain(got: unknown): unknown {
  return changed(got, (key, value, parent) => {
    if (value === null && key === "required") return undefined;
    if (key === "title" && ("type" in parent || "properties" in parent)) return undefined;
    if (key === "detail" && parent["code"] === "invalid_params") return undefined;
    return value;
  });
}

type Change = (key: string, value: unknown, parent: Readonly<Record<string, unknown>>) => unknown;

/** A JSON value with each member of its objects replaced, or without it where that is undefined. */
function changed(json: unknown, change: Change): unknown {
  if (Array.isArray(json)) return json.map((item) => changed(item, change));
  if (!isJsonObject(json)) return json;
  const members = Object.entries(json).map(([key, value]) => [key, changed(change(key, value, json), change)] as const);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}
