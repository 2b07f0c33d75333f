import { describe, expect, test } from "vitest";
import { checkedLines } from "../../../test/fixtures/bundle-problems.ts";
import { card, environmentName, multi, server, site } from "../../../test/fixtures/env-folders.ts";
import type { FolderTree } from "../../../test/fixtures/folder.ts";
import { BUILT_IN } from "../types/registry.ts";

describe("B4 keys are closed", () => {
  const cases: [string, FolderTree, string[]][] = [
    [
      "mcp_server",
      server("a", `${environmentName("a")}backend_image = "x"\n[metadata]\n`),
      [
        'unknown-key envs/a: env.toml: unknown keys "backend_image" and "metadata": mcp_server takes image, environment_name, env_provider_type, type, id',
      ],
    ],
    [
      "website",
      site("a", `${environmentName("a")}image = "x"\n`),
      [
        'unknown-key envs/a: env.toml: unknown key "image": website takes backend_image, frontend_image, environment_name, env_provider_type, type, id',
      ],
    ],
    [
      "multi",
      multi("a", 'mcp_server_envs = ["x"]\nenvironment_name = "a"\n'),
      [
        'unknown-key envs/a: env.toml: unknown key "environment_name": multi takes mcp_server_envs, website_envs, name, env_provider_type, type, id',
      ],
    ],
  ];
  test.each(cases)("%s", async (_name, tree, lines) => {
    expect(await checkedLines(tree)).toEqual(lines);
  });
});

describe("B5 refusals of env folders", () => {
  const cases: [string, FolderTree, string[]][] = [
    [
      "values of a wrong type",
      { ...server("a", "environment_name = 1\nenv_provider_type = true\n"), ...multi("m", 'mcp_server_envs = "a"\nname = ["x"]\n') },
      [
        "wrong-value envs/a: env.toml: env_provider_type: expected a string, and found true",
        "wrong-value envs/a: env.toml: environment_name: expected a string, and found 1",
        'wrong-value envs/m: env.toml: mcp_server_envs: expected a list, and found "a"',
        'wrong-value envs/m: env.toml: name: expected a string, and found ["x"]',
      ],
    ],
    [
      "a provider that isn't installed",
      server("a", `${environmentName("a")}env_provider_type = "gatway"\n`),
      [
        'unknown-provider envs/a: env.toml: env_provider_type: there is no provider "gatway" (probably "gateway"): installed are gateway, server',
      ],
    ],
    [
      "a provider that deploys one MCP server, on a website and a multi",
      {
        ...site("a", `${environmentName("a")}env_provider_type = "server"\n`),
        ...multi("m", 'website_envs = ["a"]\nenv_provider_type = "server"\n'),
      },
      [
        'provider-cannot envs/a: env.toml: the provider "server" deploys one MCP server only, and this is of type website',
        'provider-cannot envs/m: env.toml: the provider "server" deploys one MCP server only, and this is of type multi',
      ],
    ],
    [
      "an empty name",
      server("a", 'environment_name = ""\n'),
      [
        "empty-name envs/a: env.toml: environment_name: is empty: write the server's name, or leave the key out to take it from the card in its source",
      ],
    ],
    [
      "names that a gateway deploy gives its own containers, and names that can't be a host's",
      {
        ...server("a", environmentName("gateway")),
        ...server("b", `${environmentName("gateway")}env_provider_type = "server"\n`),
        ...server("c", environmentName("a b")),
        ...site("d", environmentName("x".repeat(47))),
      },
      [
        "bad-env-name envs/c: env.toml: \"a b\" can't be a server's name: only A-Z, a-z, 0-9, '.', '_' and '-' may be in it, since it becomes a host name and part of a path",
        `bad-env-name envs/d: env.toml: "${"x".repeat(47)}" can't be a server's name: "${"x".repeat(47)}-website-frontend", a part of its container's name, is over 63 characters, the most a host name's part can have`,
        'reserved-name envs/a: env.toml: "gateway" is a name that the provider "gateway" gives its own containers (db-mcp, gateway, pgweb, servicedb, website-browser): choose another',
      ],
    ],
    [
      "a multi without envs, and with a bad name",
      {
        ...multi("a", "mcp_server_envs = []\n"),
        ...multi("b", 'mcp_server_envs = ["x"]\nname = ""\n'),
        ...multi("c", 'mcp_server_envs = ["x"]\nname = "a\u00a0b"\n'),
      },
      [
        "bad-multi-name envs/b: env.toml: name: \"\" can't be a multi's name: it must be a text without white space; leave it out to have one drawn at each deploy",
        "bad-multi-name envs/c: env.toml: name: \"a\u00a0b\" can't be a multi's name: it must be a text without white space; leave it out to have one drawn at each deploy",
        "no-envs envs/a: env.toml: names no env: list MCP servers in mcp_server_envs, websites in website_envs",
      ],
    ],
    [
      "two children that name one container, in whatever case",
      {
        ...server("a", environmentName("shop-Website-backend")),
        ...server("b", environmentName("shop")),
        ...site("c", environmentName("shop")),
        ...server("d", environmentName("pgweb")),
        ...multi("m", 'mcp_server_envs = ["a", "b", "b", "d"]\nwebsite_envs = ["c"]\n'),
      },
      [
        'container-twice envs/m: mcp_server_envs[2]: "shop" would be the container "shop", as "shop" of mcp_server_envs[1] is: give one of them another name',
        'container-twice envs/m: website_envs[0]: "shop" would be the container "shop-website-backend", as "shop-Website-backend" of mcp_server_envs[0] is: give one of them another name',
        'reserved-name envs/d: env.toml: "pgweb" is a name that the provider "gateway" gives its own containers (db-mcp, gateway, pgweb, servicedb, website-browser): choose another',
        'reserved-name envs/m: mcp_server_envs[3]: "pgweb" is a name that the provider "gateway" gives its own containers (db-mcp, gateway, pgweb, servicedb, website-browser): choose another',
      ],
    ],
  ];
  test.each(cases)("%s", async (_name, tree, lines) => {
    expect(await checkedLines(tree)).toEqual(lines);
  });

  test("on a plugin's provider with one card, an MCP server and a website of one name", async () => {
    const oneCard = { name: "cloud", types: ["mcp_server", "website", "multi"], reservesNames: false, oneCard: true, refusesOptions: [] };
    const registry = { ...BUILT_IN, envProviders: { ...BUILT_IN.envProviders, cloud: oneCard } };
    const tree = {
      ...server("a", environmentName("shop")),
      ...site("b", environmentName("shop")),
      ...multi("m", 'mcp_server_envs = ["a"]\nwebsite_envs = ["b"]\nenv_provider_type = "cloud"\n'),
      ...multi("n", 'mcp_server_envs = ["a"]\nwebsite_envs = ["b"]\n'),
    };
    expect(await checkedLines(tree, registry)).toEqual([
      'name-shared envs/m: on the provider "cloud" a multi has one card, so no MCP server and website may share a name: "shop"',
    ]);
  });

  test("a plugin's env type that reads more than its toml", async () => {
    const [mcpServer] = BUILT_IN.types;
    if (mcpServer?.kind !== "env" || mcpServer.writes !== "record") throw new Error("the first type is the MCP server's");
    const { write: _write, ...rest } = mcpServer;
    const folderType = { ...rest, type: "folder_env", writes: "folder" as const, childSuffixes: () => [], writeFolder: async () => ({}) };
    const takes = { name: "gateway", types: ["folder_env"], reservesNames: true, oneCard: false, refusesOptions: [] };
    const registry = { ...BUILT_IN, envProviders: { gateway: takes }, types: [...BUILT_IN.types, folderType] };
    expect(await checkedLines(server("a", `type = "folder_env"\n${environmentName("a")}`), registry)).toEqual([
      "cannot-write envs/a: the type folder_env reads more than its toml and what that names, so no run can tell when to write it anew",
    ]);
  });
});

describe("B3.1 B3.3 the env's name", () => {
  const cases: [string, FolderTree, string[]][] = [
    ["B3.1 the toml's value wins over the card", { ...server("a", environmentName("other")), "envs/a/server.py": card("items") }, []],
    ["B3.2 left out, the card in the source names it", { ...server("a", ""), "envs/a/server.py": card("items") }, []],
    [
      "B3.3 no card, or several names",
      {
        ...server("a", ""),
        "envs/a/server.py": "@environment_card(name=NAME)\nclass A: ...\n",
        ...server("b", ""),
        "envs/b/a.py": card("x"),
        "envs/b/b.py": card("y"),
      },
      [
        "no-card envs/a: env.toml: no environment card with a name is in the source of the image (server.py line 1: the card's name is no literal): set environment_name",
        'several-cards envs/b: env.toml: the source of the image has cards of several names, "x" and "y": set environment_name',
      ],
    ],
    [
      "B3.3 a store image without the key",
      { "envs/a/env.toml": 'image = "crm-image"\n' },
      ["no-source envs/a: env.toml: the image isn't built from this folder, so no source can tell the name: set environment_name"],
    ],
    [
      "B3.2 for a website it is the backend image's source",
      { ...site("a", ""), "envs/a/front.py": card("front"), "envs/a/Dockerfile.backend.dockerignore": "front.py\n" },
      ["no-card envs/a: env.toml: no environment card with a name is in the source of the backend image: set environment_name"],
    ],
  ];
  test.each(cases)("%s", async (_name, tree, lines) => {
    expect(await checkedLines(tree)).toEqual(lines);
  });
});
