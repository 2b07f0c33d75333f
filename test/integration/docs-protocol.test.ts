import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  Card,
  DATA_OPERATIONS,
  dataError,
  handlerFailed,
  invalidParams,
  invalidRequest,
  methodNotFound,
  parseError,
} from "@agent-env/protocol";
import { afterAll, expect, test } from "vitest";
import { ROUTE_SCOPES } from "../../gateway-worker/src/core/auth/route-scopes.ts";
import { GATEWAY_EXTENSIONS } from "../../gateway-worker/src/core/deployment/gateway-extensions.ts";
import { TriggerAction, When } from "../../gateway-worker/src/core/triggers/spec.ts";
import { NO_DOCKER } from "../fixtures/agent-env.ts";
import { DocSession, docDeeds } from "../fixtures/doc-session.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { raw } from "../fixtures/gateway/client.ts";
import { endHosts } from "../fixtures/gateway/hosts.ts";
import { startItemsAndShop } from "../fixtures/gateway/items-and-shop.ts";
import { startNodeHost } from "../fixtures/gateway/node-host.ts";

const PAGE = readFileSync(fileURLToPath(new URL("../../docs/protocol.md", import.meta.url)), "utf8");

afterAll(endHosts);

/** The cells of the first table after that text. */
function rowsAfter(start: string): string[][] {
  const at = PAGE.indexOf(start);
  if (at < 0) throw new Error(`docs/protocol.md has no ${start}`);
  const [table = ""] = /(?:^\|.*\n)+/m.exec(PAGE.slice(at)) ?? [];
  const [, , ...rows] = table.trim().split("\n");
  return rows.map((row) => row.slice(2, -2).split(" | "));
}

test("docs/protocol.md: its environment without an SDK conforms, and each answer is as it shows", { timeout: 400_000 }, async () => {
  using home = temporaryFolder({ "notes/": "" });
  const session = new DocSession(home.path, NO_DOCKER);
  const commands: string[] = [];
  try {
    await session.does({ command: "cd notes", shown: null });
    for (const deed of docDeeds("protocol.md")) {
      const compared = await session.does(deed);
      if (compared === null) continue;
      const { command, exitCode, said, shown } = compared;
      commands.push(command);
      expect({ command, exitCode }, said).toEqual({ command, exitCode: 0 });
      if (shown !== null) expect(said).toBe(shown);
    }
  } finally {
    await session.end();
  }
  expect(commands.filter((command) => command.startsWith("npx agent-env conformance "))).toHaveLength(1);
});

test("docs/protocol.md has each route of a gateway, with the scope it needs and the methods it takes", async () => {
  const { gateway, stop } = await startItemsAndShop({ host: "node", start: startNodeHost }.start, { items: { tools: [] } });
  const shown = rowsAfter("| route | methods | scope | does |").map(([route = "", methods = "", scope = ""]) => [
    route.slice(1, -1),
    methods,
    scope,
  ]);
  expect(shown.map(([route, , scope]) => [route, scope]).sort()).toEqual([...ROUTE_SCOPES].sort());
  const served = await Promise.all(
    shown.map(async ([route = "", , scope]) => {
      const answer = await raw(gateway, route, { method: "PROPFIND" });
      expect([route, answer.status]).toEqual([route, 405]);
      const allowed = answer.header("allow")?.split(", ") ?? [];
      // Where there is a GET, the page says once for all that HEAD is answered too.
      return [route, allowed.filter((method) => method !== "HEAD" && method !== "OPTIONS").join(", "), scope];
    }),
  );
  await stop();
  expect(served).toEqual(shown);
});

test("docs/protocol.md has each field of a card, and each operation and error of the data plane", () => {
  expect(rowsAfter("### The card\n").map(([field]) => field)).toEqual(Object.keys(Card.shape).map((field) => `\`${field}\``));
  expect(rowsAfter("| method | params | result |").map(([method]) => method)).toEqual(DATA_OPERATIONS.map((method) => `\`${method}\``));
  const errors = [parseError, invalidRequest, methodNotFound("data/x"), invalidParams("x"), handlerFailed("reset", "the error's text")];
  const said = errors.map((error) => dataError(null, error)).flatMap((answer) => ("error" in answer ? [answer.error] : []));
  expect(rowsAfter("| error | code |").map(([, code, message = ""]) => [Number(code), message.replaceAll("`", "")])).toEqual(
    said.map(({ code, message }) => [code, message]),
  );
});

test("docs/protocol.md has each extension of the gateway, with its operations", () => {
  const listed = GATEWAY_EXTENSIONS.map(({ uri, params }) => [
    `\`${uri}\``,
    Object.entries(params.methods)
      .map(([name, { method, endpoint = params.endpoint }]) => `\`${name}\` ${method} \`${endpoint}\``)
      .join(", "),
  ]);
  expect(rowsAfter("| URI | operations |")).toEqual(listed);
});

test("docs/protocol.md has each kind of a trigger and of its actions, with their keys", () => {
  const keysOf = (options: readonly { readonly shape: object }[], kinds: readonly string[][]) =>
    options.map(({ shape }, at) => [
      kinds[at]?.[0],
      Object.keys(shape)
        .filter((key) => key !== "type")
        .sort(),
    ]);
  const shown = (rows: readonly string[][]) =>
    rows.map(([kind, , keys = ""]) => [kind, [...keys.matchAll(/`(\w+)`/g)].map(([, key]) => key).sort()]);
  const when = rowsAfter("| `when.type` |");
  const actions = rowsAfter("| action | does | keys |");
  expect(when.map(([kind]) => kind)).toEqual(["`action`", "`website`", "`state`", "`time`"]);
  expect(shown(when)).toEqual(keysOf(When.options, when));
  expect(actions.map(([kind]) => kind)).toEqual(["`tool`", "`permission`", "`nl`"]);
  expect(shown(actions)).toEqual(keysOf(TriggerAction.options, actions));
});
