import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CommandLine } from "../../fixtures/command-line.ts";
import { ITEMS, PUT_ITEMS, PUT_SHOP, putCommandLine, SHOP } from "../../fixtures/put-folders.ts";

describe("B6 what a bundle refuses, a put refuses, and writes nothing", () => {
  const MULTI = ["env", "multi", "put", "--id", "suite"];
  const cases: readonly (readonly [string, readonly string[], string])[] = [
    [
      "no card",
      ["env", "mcp-server", "put", "--id", "x", "--dockerfile", "bare/Dockerfile"],
      "x: no environment card with a name is in the source of the image: set --environment-name",
    ],
    [
      "a name of the gateway's own",
      [...PUT_ITEMS, "--environment-name", "gateway"],
      'items: "gateway" is a name that the provider "gateway" gives its own containers (db-mcp, gateway, pgweb, servicedb, website-browser): choose another',
    ],
    [
      "a name that is no host's",
      [...PUT_ITEMS, "--environment-name", "a b"],
      "items: \"a b\" can't be a server's name: only A-Z, a-z, 0-9, '.', '_' and '-' may be in it, since it becomes a host name and part of a path",
    ],
    [
      "an empty name",
      [...PUT_ITEMS, "--environment-name", ""],
      "items: --environment-name: is empty: write the server's name, or leave the key out to take it from the card in its source",
    ],
    [
      "an unknown provider",
      [...PUT_ITEMS, "--env-provider-type", "moon"],
      'items: --env-provider-type: there is no provider "moon": installed are gateway, server',
    ],
    [
      "a site on the provider of one server",
      [...PUT_SHOP, "shop/Dockerfile.frontend", "--env-provider-type", "server"],
      'shop: the provider "server" deploys one MCP server only, and this is of type website',
    ],
    ["a multi of nothing", MULTI, "suite: names no env: list MCP servers in --mcp-server, websites in --website"],
    [
      "a multi's name with a space",
      [...MULTI, "--mcp-server", "items", "--name", "a b"],
      "suite: --name: \"a b\" can't be a multi's name: it must be a text without white space; leave it out to have one drawn at each deploy",
    ],
    ["a child that isn't stored", [...MULTI, "--mcp-server", "mail"], 'suite: --mcp-server[0]: there is no env "mail" in the store'],
    [
      "a child's version that isn't stored",
      [...MULTI, "--mcp-server", "items:7"],
      'suite: --mcp-server[0]: there is no env "items" v7 in the store: its latest is v1',
    ],
    [
      "a child of another type",
      [...MULTI, "--mcp-server", "shop"],
      'suite: --mcp-server[0]: "shop" is of type website in the store, and the field takes an env of type mcp_server',
    ],
    [
      "one child twice",
      [...MULTI, "--mcp-server", "items", "--mcp-server", "items:1"],
      'suite: --mcp-server[1]: "items" would be the container "items", as "items" of --mcp-server[0] is: give one of them another name',
    ],
    [
      "an id of another type",
      [...MULTI.slice(0, -1), "items", "--website", "shop"],
      '--id: "items" is an env of type mcp_server in the store, and this is a multi: an id keeps its type, so give this one another id',
    ],
    [
      "an id of somebody's own space",
      [...MULTI.slice(0, -1), "@other/suite", "--website", "shop"],
      '--id: "@other/suite" is no id: one opens with "@local/" or with no @ at all',
    ],
    [
      "an id that looks encoded",
      [...MULTI.slice(0, -1), "local-suite-0123456789ab", "--website", "shop"],
      '--id: "local-suite-0123456789ab" can\'t be an id: it looks like the store\'s own form of an id that starts with "@local/"',
    ],
    [
      "a bare id over an id of this machine",
      [...MULTI, "--mcp-server", "@local/here/own"],
      'suite: --mcp-server[0]: "@local/here/own" is an id of this machine only, and "suite" is one of the shared store: put what it names under a bare id, and name that',
    ],
    [
      "an artifact's id with __",
      ["artifact", "put", "files", "--id", "a__b"],
      '--id: "a__b" can\'t be an artifact\'s id: "__" is kept for the ids of what is made along with an artifact',
    ],
    [
      "an unknown key",
      ["artifact", "put", "odd", "--id", "odd"],
      'odd: artifact.toml: unknown key "colour": file takes description, type, id',
    ],
    [
      "an empty folder",
      ["artifact", "put", "none", "--id", "none"],
      "none: has nothing in it (artifact.toml and what the system leaves behind don't count)",
    ],
  ];

  let here: CommandLine;
  let before: readonly string[];
  beforeAll(async () => {
    here = putCommandLine({
      ...ITEMS,
      ...SHOP,
      "bare/Dockerfile": "FROM base\n",
      "files/a.txt": "a\n",
      "none/": "",
      "odd/artifact.toml": 'colour = "red"\n',
      "odd/a.txt": "",
    });
    await here.run(...PUT_ITEMS);
    await here.run(...PUT_SHOP, "shop/Dockerfile.frontend");
    await here.run("env", "mcp-server", "put", "--id", "@local/here/own", "--dockerfile", "items/Dockerfile");
    before = filesIn(join(here.folder, "state"));
  });
  afterAll(() => here[Symbol.dispose]());

  test.each(cases)("%s", async (_, argv, problem) => {
    expect(await here.run(...argv)).toEqual({
      exitCode: 1,
      out: "",
      err: `${problem}\n1 problem; nothing was built, written or started\n`,
    });
    expect(filesIn(join(here.folder, "state"))).toEqual(before);
  });

  test("where nothing was ever stored, not even the state folder", async () => {
    using empty = putCommandLine(ITEMS);
    await empty.run(...PUT_ITEMS, "--environment-name", "gateway");
    expect(existsSync(join(empty.folder, "state"))).toBe(false);
  });
});

/** Every file with its size, but SQLite's own that come and go. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((item) => item.isFile() && !/-(shm|wal)$/.test(item.name))
    .map(({ parentPath, name }) => `${parentPath}/${name} ${statSync(join(parentPath, name)).size}`)
    .sort();
}
