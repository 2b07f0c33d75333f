import { deploying, multi, named, type Refusal, server, site } from "./refusal.ts";

const card = (name: string): string => `import { environmentCard } from "@agent-env/sdk";\nenvironmentCard({ name: "${name}" });\n`;
const source = (env: string, files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([file, text]) => [`envs/${env}/${file}`, text]));

/** Keys and values of env.toml (B4, B5). */
export const CHECK_ENV_KEYS: readonly Refusal[] = [
  {
    name: "a key that an MCP server doesn't have",
    tree: { ...server("a", `${named("a")}port = 8080\n`), ...deploying("a") },
    lines: ['unknown-key envs/a: env.toml: unknown key "port": mcp_server takes image, environment_name, env_provider_type, type, id'],
  },
  {
    name: "keys of another env type, and nested ones",
    tree: {
      ...server("a", `${named("a")}backend_image = "x"\n[metadata]\nteam = "x"\n`),
      ...site("b", `${named("b")}image = "x"\n`),
      ...server("c"),
      ...multi("m", 'mcp_server_envs = ["c"]\nenvironment_name = "m"\n'),
      ...deploying("a", "b", "m"),
    },
    lines: [
      'unknown-key envs/a: env.toml: unknown keys "backend_image" and "metadata": mcp_server takes image, environment_name, env_provider_type, type, id',
      'unknown-key envs/b: env.toml: unknown key "image": website takes backend_image, frontend_image, environment_name, env_provider_type, type, id',
      'unknown-key envs/m: env.toml: unknown key "environment_name": multi takes mcp_server_envs, website_envs, name, env_provider_type, type, id',
    ],
  },
  {
    name: "a key that isn't plain text is shown on one line",
    tree: { ...server("a", `${named("a")}"a\\nb" = 1\n`), ...deploying("a") },
    lines: ['unknown-key envs/a: env.toml: unknown key "a\\nb": mcp_server takes image, environment_name, env_provider_type, type, id'],
  },
  {
    name: "strings that are something else",
    tree: {
      ...server("a", "environment_name = 1\nenv_provider_type = true\n"),
      ...server("b", "environment_name = 2026-01-31\nenv_provider_type = 1.5\n"),
      ...server("c", 'environment_name = ["c"]\nenv_provider_type = { a = 1 }\n'),
      ...deploying("a", "b", "c"),
    },
    lines: [
      "wrong-value envs/a: env.toml: env_provider_type: expected a string, and found true",
      "wrong-value envs/a: env.toml: environment_name: expected a string, and found 1",
      "wrong-value envs/b: env.toml: env_provider_type: expected a string, and found 1.5",
      'wrong-value envs/b: env.toml: environment_name: expected a string, and found "2026-01-31"',
      'wrong-value envs/c: env.toml: env_provider_type: expected a string, and found {"a":1}',
      'wrong-value envs/c: env.toml: environment_name: expected a string, and found ["c"]',
    ],
  },
  {
    name: "lists and a name of a multi that are something else",
    tree: { ...multi("m", 'mcp_server_envs = "a"\nwebsite_envs = { env = "a" }\nname = 5\n'), ...deploying("m") },
    lines: [
      'wrong-value envs/m: env.toml: mcp_server_envs: expected a list, and found "a"',
      "wrong-value envs/m: env.toml: name: expected a string, and found 5",
      'wrong-value envs/m: env.toml: website_envs: expected a list, and found {"env":"a"}',
    ],
  },
  {
    name: "values that would repaint a line or end it",
    tree: {
      ...server("a", 'environment_name = "a\\u2028b\\u202ec"\nenv_provider_type = "\\u2029"\n'),
      ...multi("m", 'name = "\\u202e x"\nmcp_server_envs = ["\\u2066"]\n'),
      ...deploying("a", "m"),
    },
    lines: [
      'unknown-provider envs/a: env.toml: env_provider_type: there is no provider "\\u2029": installed are gateway, server',
      "bad-multi-name envs/m: env.toml: name: \"\\u202e x\" can't be a multi's name: it must be a text without white space; leave it out to have one drawn at each deploy",
    ],
  },
  {
    name: "an unknown key and a wrong value in one toml",
    tree: { ...server("a", "environment_name = 1\nenviron = 2\n"), ...deploying("a") },
    lines: [
      "wrong-value envs/a: env.toml: environment_name: expected a string, and found 1",
      'unknown-key envs/a: env.toml: unknown key "environ": mcp_server takes image, environment_name, env_provider_type, type, id',
    ],
  },
];

/** Environment providers (B5, B6). */
export const CHECK_PROVIDERS: readonly Refusal[] = [
  {
    name: "a provider that nobody has",
    tree: {
      ...server("a", `${named("a")}env_provider_type = "gatway"\n`),
      ...site("b", `${named("b")}env_provider_type = ""\n`),
      ...deploying("a", "b"),
    },
    lines: [
      'unknown-provider envs/a: env.toml: env_provider_type: there is no provider "gatway" (probably "gateway"): installed are gateway, server',
      'unknown-provider envs/b: env.toml: env_provider_type: there is no provider "": installed are gateway, server',
    ],
  },
  {
    name: "an unknown provider of a multi",
    tree: { ...server("a"), ...multi("m", 'mcp_server_envs = ["a"]\nenv_provider_type = "cloud"\n'), ...deploying("m") },
    lines: ['unknown-provider envs/m: env.toml: env_provider_type: there is no provider "cloud": installed are gateway, server'],
  },
  {
    name: "a provider of one MCP server, on a website and a multi",
    tree: {
      ...site("a", `${named("a")}env_provider_type = "server"\n`),
      ...server("b"),
      ...multi("m", 'mcp_server_envs = ["b"]\nenv_provider_type = "server"\n'),
      ...deploying("a", "m"),
    },
    lines: [
      'provider-cannot envs/a: env.toml: the provider "server" deploys one MCP server only, and this is of type website',
      'provider-cannot envs/m: env.toml: the provider "server" deploys one MCP server only, and this is of type multi',
    ],
  },
];

/** Names of servers (B3, B5, 4-bundle §6, §7.4). */
export const CHECK_NAMES: readonly Refusal[] = [
  {
    name: "an empty name",
    tree: { ...server("a", 'environment_name = ""\n'), ...site("b", 'environment_name = "  "\n'), ...deploying("a", "b") },
    lines: [
      "empty-name envs/a: env.toml: environment_name: is empty: write the server's name, or leave the key out to take it from the card in its source",
      "empty-name envs/b: env.toml: environment_name: is empty: write the server's name, or leave the key out to take it from the card in its source",
    ],
  },
  {
    name: "each name of the gateway's own containers",
    tree: {
      ...server("a", named("gateway")),
      ...server("b", named("servicedb")),
      ...server("c", named("pgweb")),
      ...server("d", named("db-mcp")),
      ...site("e", named("website-browser")),
      ...deploying("a", "b", "c", "d", "e"),
    },
    lines: [
      'reserved-name envs/a: env.toml: "gateway" is a name that the provider "gateway" gives its own containers (db-mcp, gateway, pgweb, servicedb, website-browser): choose another',
      'reserved-name envs/b: env.toml: "servicedb" is a name that the provider "gateway" gives its own containers (db-mcp, gateway, pgweb, servicedb, website-browser): choose another',
      'reserved-name envs/c: env.toml: "pgweb" is a name that the provider "gateway" gives its own containers (db-mcp, gateway, pgweb, servicedb, website-browser): choose another',
      'reserved-name envs/d: env.toml: "db-mcp" is a name that the provider "gateway" gives its own containers (db-mcp, gateway, pgweb, servicedb, website-browser): choose another',
      'reserved-name envs/e: env.toml: "website-browser" is a name that the provider "gateway" gives its own containers (db-mcp, gateway, pgweb, servicedb, website-browser): choose another',
    ],
  },
  {
    name: "names that can be no host or path part",
    tree: {
      ...server("a", named("a b")),
      ...server("b", named("naïve")),
      ...server("c", named("a/b")),
      ...server("d", named("..")),
      ...server("e", named("a:1")),
      ...deploying("a", "b", "c", "d", "e"),
    },
    lines: [
      "bad-env-name envs/a: env.toml: \"a b\" can't be a server's name: only A-Z, a-z, 0-9, '.', '_' and '-' may be in it, since it becomes a host name and part of a path",
      "bad-env-name envs/b: env.toml: \"naïve\" can't be a server's name: only A-Z, a-z, 0-9, '.', '_' and '-' may be in it, since it becomes a host name and part of a path",
      "bad-env-name envs/c: env.toml: \"a/b\" can't be a server's name: only A-Z, a-z, 0-9, '.', '_' and '-' may be in it, since it becomes a host name and part of a path",
      "bad-env-name envs/d: env.toml: \"..\" can't be a server's name: it would be read as a folder",
      "bad-env-name envs/e: env.toml: \"a:1\" can't be a server's name: only A-Z, a-z, 0-9, '.', '_' and '-' may be in it, since it becomes a host name and part of a path",
    ],
  },
  {
    name: "names whose containers are too long for a host name",
    tree: { ...server("a", named("x".repeat(64))), ...site("b", named("y".repeat(47))), ...deploying("a", "b") },
    lines: [
      "bad-env-name envs/a: env.toml: \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\" can't be a server's name: \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\", a part of its container's name, is over 63 characters, the most a host name's part can have",
      "bad-env-name envs/b: env.toml: \"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\" can't be a server's name: \"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy-website-frontend\", a part of its container's name, is over 63 characters, the most a host name's part can have",
    ],
  },
  {
    name: "no card in the source",
    tree: { ...server("a", ""), ...source("a", { "server.py": "def serve(): ...\n" }), ...site("b", ""), ...deploying("a", "b") },
    lines: [
      "no-card envs/a: env.toml: no environment card with a name is in the source of the image: set environment_name",
      "no-card envs/b: env.toml: no environment card with a name is in the source of the backend image: set environment_name",
    ],
  },
  {
    name: "cards whose names are no literals",
    tree: {
      ...server("a", ""),
      ...source("a", { "a.py": "@environment_card(name=NAME)\nclass A: ...\n", "b.ts": "environmentCard({ name });\n" }),
      ...deploying("a"),
    },
    lines: [
      "no-card envs/a: env.toml: no environment card with a name is in the source of the image (a.py line 1: the card's name is no literal; b.ts line 1: the card's name is no literal): set environment_name",
    ],
  },
  {
    name: "a source that doesn't parse",
    tree: { ...server("a", ""), ...source("a", { "server.py": '@environment_card(name="a"\nclass A\n' }), ...deploying("a") },
    lines: [
      "no-card envs/a: env.toml: no environment card with a name is in the source of the image (server.py can't be read: line 1 column 1: syntax error): set environment_name",
    ],
  },
  {
    name: "cards of several names, in both languages",
    tree: {
      ...server("a", ""),
      ...source("a", { "a.ts": card("mail"), "b.ts": card("crm"), "c.py": '@environment_card(name="wiki")\nclass A: ...\n' }),
      ...deploying("a"),
    },
    lines: [
      'several-cards envs/a: env.toml: the source of the image has cards of several names, "crm", "mail" and "wiki": set environment_name',
    ],
  },
  {
    name: "a card that the image doesn't see",
    tree: { ...server("a", ""), ...source("a", { "server.ts": card("a"), ".dockerignore": "*.ts\n" }), ...deploying("a") },
    lines: ["no-card envs/a: env.toml: no environment card with a name is in the source of the image: set environment_name"],
  },
  {
    name: "a name that no source tells",
    tree: {
      "envs/a/env.toml": 'image = "team/crm"\n',
      "envs/b/env.toml": 'type = "website"\nbackend_image = "team/b"\nfrontend_image = "team/f"\n',
      ...deploying("a", "b"),
    },
    lines: [
      "no-source envs/a: env.toml: the image isn't built from this folder, so no source can tell the name: set environment_name",
      "no-source envs/b: env.toml: the backend image isn't built from this folder, so no source can tell the name: set environment_name",
    ],
  },
];

/** Multis (B5, 4-bundle §4.1). */
export const CHECK_MULTIS: readonly Refusal[] = [
  {
    name: "a multi without envs",
    tree: { ...multi("m", ""), ...multi("n", "mcp_server_envs = []\nwebsite_envs = []\n"), ...deploying("m", "n") },
    lines: [
      "no-envs envs/m: env.toml: names no env: list MCP servers in mcp_server_envs, websites in website_envs",
      "no-envs envs/n: env.toml: names no env: list MCP servers in mcp_server_envs, websites in website_envs",
    ],
  },
  {
    name: "a multi's name that is empty or has white space",
    tree: {
      ...server("a"),
      ...multi("k", 'mcp_server_envs = ["a"]\nname = ""\n'),
      ...multi("m", 'mcp_server_envs = ["a"]\nname = "my env"\n'),
      ...multi("n", 'mcp_server_envs = ["a"]\nname = "a\\tb"\n'),
      ...multi("o", 'mcp_server_envs = ["a"]\nname = "a\u3000b"\n'),
      ...deploying("k", "m", "n", "o"),
    },
    lines: [
      "bad-multi-name envs/k: env.toml: name: \"\" can't be a multi's name: it must be a text without white space; leave it out to have one drawn at each deploy",
      "bad-multi-name envs/m: env.toml: name: \"my env\" can't be a multi's name: it must be a text without white space; leave it out to have one drawn at each deploy",
      "bad-multi-name envs/n: env.toml: name: \"a\\tb\" can't be a multi's name: it must be a text without white space; leave it out to have one drawn at each deploy",
      "bad-multi-name envs/o: env.toml: name: \"a　b\" can't be a multi's name: it must be a text without white space; leave it out to have one drawn at each deploy",
    ],
  },
  {
    name: "one child twice",
    tree: { ...server("a"), ...multi("m", 'mcp_server_envs = ["a", "a"]\n'), ...deploying("m") },
    lines: [
      'container-twice envs/m: mcp_server_envs[1]: "a" would be the container "a", as "a" of mcp_server_envs[0] is: give one of them another name',
    ],
  },
  {
    name: "two MCP servers of one name",
    tree: {
      ...server("a", named("crm")),
      ...server("b", named("CRM")),
      ...multi("m", 'mcp_server_envs = ["a", "b"]\n'),
      ...deploying("m"),
    },
    lines: [
      'container-twice envs/m: mcp_server_envs[1]: "CRM" would be the container "CRM", as "crm" of mcp_server_envs[0] is: give one of them another name',
    ],
  },
  {
    name: "two websites of one name",
    tree: { ...site("a", named("shop")), ...site("b", named("shop")), ...multi("m", 'website_envs = ["a", "b"]\n'), ...deploying("m") },
    lines: [
      'container-twice envs/m: website_envs[1]: "shop" would be the container "shop-website-backend", as "shop" of website_envs[0] is: give one of them another name',
    ],
  },
  {
    name: "an MCP server named like a website's container",
    tree: {
      ...server("a", named("shop-website-backend")),
      ...server("b", named("Shop-Website-Frontend")),
      ...site("c", named("shop")),
      ...multi("m", 'mcp_server_envs = ["a", "b"]\nwebsite_envs = ["c"]\n'),
      ...deploying("m"),
    },
    lines: [
      'container-twice envs/m: website_envs[0]: "shop" would be the container "shop-website-backend", as "shop-website-backend" of mcp_server_envs[0] is: give one of them another name',
      'container-twice envs/m: website_envs[0]: "shop" would be the container "shop-website-frontend", as "Shop-Website-Frontend" of mcp_server_envs[1] is: give one of them another name',
    ],
  },
  {
    name: "a child that is refused by itself, and in its multi",
    tree: { ...server("a", named("gateway")), ...multi("m", 'mcp_server_envs = ["a"]\n'), ...deploying("m") },
    lines: [
      'reserved-name envs/a: env.toml: "gateway" is a name that the provider "gateway" gives its own containers (db-mcp, gateway, pgweb, servicedb, website-browser): choose another',
      'reserved-name envs/m: mcp_server_envs[0]: "gateway" is a name that the provider "gateway" gives its own containers (db-mcp, gateway, pgweb, servicedb, website-browser): choose another',
    ],
  },
];

/** Several at once. */
export const CHECK_ENV_TOGETHER: readonly Refusal[] = [
  {
    name: "an unknown key, an unknown provider and an empty name of one env",
    tree: { ...server("a", 'environment_name = ""\nenv_provider_type = "x"\nport = 1\n'), ...deploying("a") },
    lines: [
      'unknown-provider envs/a: env.toml: env_provider_type: there is no provider "x": installed are gateway, server',
      "empty-name envs/a: env.toml: environment_name: is empty: write the server's name, or leave the key out to take it from the card in its source",
      'unknown-key envs/a: env.toml: unknown key "port": mcp_server takes image, environment_name, env_provider_type, type, id',
    ],
  },
  {
    name: "a multi without envs, with a bad name, on a provider that nobody has",
    tree: { ...multi("m", 'name = " "\nenv_provider_type = "x"\nport = 1\n'), ...deploying("m") },
    lines: [
      'unknown-provider envs/m: env.toml: env_provider_type: there is no provider "x": installed are gateway, server',
      "bad-multi-name envs/m: env.toml: name: \" \" can't be a multi's name: it must be a text without white space; leave it out to have one drawn at each deploy",
      "no-envs envs/m: env.toml: names no env: list MCP servers in mcp_server_envs, websites in website_envs",
      'unknown-key envs/m: env.toml: unknown key "port": multi takes mcp_server_envs, website_envs, name, env_provider_type, type, id',
    ],
  },
  {
    name: "a website that a provider can't deploy, with a wrong value and no card",
    tree: { ...site("a", 'env_provider_type = "server"\nport = 1\n'), ...deploying("a") },
    lines: [
      "no-card envs/a: env.toml: no environment card with a name is in the source of the backend image: set environment_name",
      'provider-cannot envs/a: env.toml: the provider "server" deploys one MCP server only, and this is of type website',
      'unknown-key envs/a: env.toml: unknown key "port": website takes backend_image, frontend_image, environment_name, env_provider_type, type, id',
    ],
  },
  {
    name: "a reserved name, a doubled container and a bad name in one multi",
    tree: {
      ...server("a", named("pgweb")),
      ...server("b", named("x y")),
      ...server("c", named("crm")),
      ...server("d", named("crm")),
      ...multi("m", 'mcp_server_envs = ["a", "b", "c", "d"]\n'),
      ...deploying("m"),
    },
    lines: [
      'reserved-name envs/a: env.toml: "pgweb" is a name that the provider "gateway" gives its own containers (db-mcp, gateway, pgweb, servicedb, website-browser): choose another',
      "bad-env-name envs/b: env.toml: \"x y\" can't be a server's name: only A-Z, a-z, 0-9, '.', '_' and '-' may be in it, since it becomes a host name and part of a path",
      'reserved-name envs/m: mcp_server_envs[0]: "pgweb" is a name that the provider "gateway" gives its own containers (db-mcp, gateway, pgweb, servicedb, website-browser): choose another',
      "bad-env-name envs/m: mcp_server_envs[1]: \"x y\" can't be a server's name: only A-Z, a-z, 0-9, '.', '_' and '-' may be in it, since it becomes a host name and part of a path",
      'container-twice envs/m: mcp_server_envs[3]: "crm" would be the container "crm", as "crm" of mcp_server_envs[2] is: give one of them another name',
    ],
  },
  {
    name: "one problem in each of three envs",
    tree: {
      ...server("a", 'environment_name = ""\n'),
      ...site("b", `${named("b")}x = 1\n`),
      ...multi("m", 'mcp_server_envs = ["a"]\nname = ""\n'),
      ...deploying("a", "b", "m"),
    },
    lines: [
      "empty-name envs/a: env.toml: environment_name: is empty: write the server's name, or leave the key out to take it from the card in its source",
      'unknown-key envs/b: env.toml: unknown key "x": website takes backend_image, frontend_image, environment_name, env_provider_type, type, id',
      "bad-multi-name envs/m: env.toml: name: \"\" can't be a multi's name: it must be a text without white space; leave it out to have one drawn at each deploy",
    ],
  },
];
