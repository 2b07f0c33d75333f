import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkedLines } from "../../../test/fixtures/bundle-problems.ts";
import { type FolderTree, temporaryFolder } from "../../../test/fixtures/folder.ts";
import { untouchableStore } from "../../../test/fixtures/memory-store.ts";
import { SUITE } from "../../../test/fixtures/suite-bundle.ts";
import { BUILT_IN } from "../types/registry.ts";
import type { ArtifactType } from "../types/type.ts";
import { checkBundle } from "./check.ts";
import { planBundle } from "./plan.ts";

const card = (name: string): string => `@environment_card(name="${name}")\nclass A: ...\n`;
const server = (name: string, toml: string): FolderTree => ({ [`envs/${name}/Dockerfile`]: "", [`envs/${name}/env.toml`]: toml });
const site = (name: string, toml: string): FolderTree => ({
  [`envs/${name}/env.toml`]: `type = "website"\n${toml}`,
  [`envs/${name}/Dockerfile.backend`]: "",
  [`envs/${name}/Dockerfile.frontend`]: "",
});
const multi = (name: string, toml: string): FolderTree => ({ [`envs/${name}/env.toml`]: `type = "multi"\n${toml}` });
const environmentName = (name: string): string => `environment_name = "${name}"\n`;

test("a whole bundle has no problems", async () => {
  expect(await checkedLines(SUITE)).toEqual([]);
});

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

describe("B5 refusals of artifacts", () => {
  const cases: [string, FolderTree, string[]][] = [
    [
      "files",
      {
        "artifacts/a/artifact.toml": 'type = "file"\n',
        "artifacts/a/x": "",
        "artifacts/a/y": "",
        "artifacts/b/empty/": "",
        "artifacts/c/artifact.toml": 'type = "file"\ndescription = 1\n',
      },
      [
        "no-files artifacts/b: has no file to write",
        "no-files artifacts/c: has no file to write",
        "one-file artifacts/a: holds one file, and has 2",
        "wrong-value artifacts/c: artifact.toml: description: expected a string, and found 1",
      ],
    ],
    [
      "environments",
      {
        "artifacts/a/artifact.toml": 'type = "environment"\nservice_name = "x"\n',
        "artifacts/a/x": "",
        "artifacts/b/artifact.toml": 'type = "environment"\nenvironment_name = "x"\nfile = "stored"\ndescription = "d"\n',
        "artifacts/b/x": "",
        "artifacts/c/artifact.toml": 'type = "environment"\nenvironment_name = ""\n',
      },
      [
        "environment artifacts/a: artifact.toml: environment_name: names no server: write the name of the one that the data is for",
        "environment artifacts/a: artifact.toml: service_name: is how the store calls it: write environment_name",
        "environment artifacts/b: artifact.toml: description: describes the folder's own file, and `file` names another: remove it",
        "environment artifacts/b: has a file of its own, and `file` names another: keep one of the two",
        "environment artifacts/c: artifact.toml: environment_name: names no server: write the name of the one that the data is for",
        "no-files artifacts/c: has no file to write",
      ],
    ],
    [
      "universes",
      {
        "artifacts/a/artifact.toml": 'type = "environment_universe"\n',
        "artifacts/a/top.json": "",
        "artifacts/a/crm/one": "",
        "artifacts/a/crm/two": "",
        "artifacts/a/Metadata/x/y": "",
        "artifacts/a/metadata/z": "",
        "artifacts/a/mail/": "",
        "artifacts/b/artifact.toml": 'type = "environment_universe"\n',
      },
      [
        "universe artifacts/a/Metadata: rename it to metadata: names are case-sensitive",
        "universe artifacts/a/crm: holds 2 files, and an environment has one",
        "universe artifacts/a/mail: holds no file, and an environment has one",
        "universe artifacts/a/metadata/z: lies in metadata/ itself: put it into metadata/<key>/",
        "universe artifacts/a/top.json: lies at the top: put it into a folder named for its server",
        "universe artifacts/b: holds no environment: add a folder with a file for each server, or list environment_artifacts",
      ],
    ],
    [
      "an image folder without its Dockerfile",
      { "artifacts/a/artifact.toml": 'type = "docker_image"\n' },
      ["image-file artifacts/a: there is no Dockerfile in this folder to build: an artifact of type docker_image needs one"],
    ],
    [
      "an image of a registry, with and without a Dockerfile",
      {
        "artifacts/a/artifact.toml": 'ref = "registry.example.com/crm:v1"\n',
        "artifacts/b/artifact.toml": 'type = "docker_image"\nref = "registry.example.com/crm:v1"\n',
        "artifacts/b/Dockerfile": "",
      },
      [
        "image-ref artifacts/a: artifact.toml: ref: an image of a registry isn't supported yet: build it from a Dockerfile in this folder",
        "image-ref artifacts/b: artifact.toml: ref: an image of a registry isn't supported yet: build it from a Dockerfile in this folder",
      ],
    ],
    [
      "a key of an image on an artifact that is none",
      {
        "artifacts/c/artifact.toml": 'type = "file"\nref = "registry.example.com/crm:v1"\n',
        "artifacts/c/x": "",
      },
      ['unknown-key artifacts/c: artifact.toml: unknown key "ref": file takes description, type, id'],
    ],
  ];
  test.each(cases)("%s", async (_name, tree, lines) => {
    expect(await checkedLines(tree)).toEqual(lines);
  });
});

test("B5 an id that two things would be written under is refused", async () => {
  const twice: ArtifactType = {
    kind: "artifact",
    type: "twice",
    tomlKeys: {},
    tomlRefs: [],
    accept: (_config, context) => context.accepted(),
    read: () => ({}),
    writes: "folder",
    childSuffixes: () => ["part", "part"],
    writeFolder: async () => ({}),
  };
  const registry = { ...BUILT_IN, types: [...BUILT_IN.types, twice] };
  expect(await checkedLines({ "artifacts/a/artifact.toml": 'type = "twice"\n', "artifacts/a/x": "" }, registry)).toEqual([
    "two-writers artifacts/a: artifact <root>/a__part is also written by artifacts/a: rename one of the two",
  ]);
});

describe("B5 refusals of tasks", () => {
  const steps = (...list: object[]): FolderTree => ({ ...server("a", environmentName("a")), "tasks/t.json": JSON.stringify(list) });
  const cases: [string, FolderTree, string[]][] = [
    [
      "steps that their types can't read",
      steps(
        { id: "x", type: "deploy_env", env_id: 1 },
        { id: "y", type: "deploy_env", env_id: "a", ttl_seconds: "1", fail_task_on_error: "no", retry_config: { max_retries: -1 } },
        { id: "z", type: "deploy_env", env_id: "a", retry_config: { max_retries: 2 } },
      ),
      [
        "bad-step tasks/t.json: step 'x': env_id: expected a string, and found 1",
        "bad-step tasks/t.json: step 'y': fail_task_on_error: expected true or false, and found \"no\"",
        "bad-step tasks/t.json: step 'y': retry_config.max_retries: expected 0 or more, and found -1",
        "bad-step tasks/t.json: step 'y': ttl_seconds: expected a number, and found \"1\"",
        "bad-step tasks/t.json: step 'z': retry_config names no step: set retry_from_step_id",
      ],
    ],
    [
      "steps that don't hang together",
      steps(
        { id: "x", type: "deploy_env", env_id: "a", depends_on: ["z"] },
        { id: "x", type: "deploy_env", env_id: "a" },
        { id: "z", type: "deploy_env", env_id: "a", depends_on: [] },
      ),
      [
        "bad-task tasks/t.json: step 'x' depends on \"z\", and only earlier steps can be waited for",
        'bad-task tasks/t.json: step ids repeat: "x": give each step its own',
      ],
    ],
    [
      "retries that go on at another branch, or at a later step",
      steps(
        { id: "x", type: "reset_env", env_id: "a", retry_config: { retry_from_step_id: "x" } },
        { id: "y", type: "reset_env", env_id: "a", depends_on: [], retry_config: { go_to_step_id: "x", max_retries: 0 } },
        { id: "z", type: "reset_env", env_id: "a", depends_on: ["y"], retry_config: { retry_from_step_id: "last" } },
        { id: "last", type: "reset_env", env_id: "a", retry_config: { retry_from_step_id: "x" } },
      ),
      [
        "bad-task tasks/t.json: step 'y' retries from \"x\", which is neither the step itself nor one that it runs after",
        "bad-task tasks/t.json: step 'z' retries from \"last\", which is neither the step itself nor one that it runs after",
      ],
    ],
    [
      "seeds for servers that the env doesn't have, and two for one server",
      {
        ...SUITE,
        "artifacts/extra/artifact.toml": 'type = "environment"\nenvironment_name = "items"\n',
        "artifacts/extra/x": "",
        "artifacts/seed/artifact.toml": 'type = "environment_universe"\nenvironment_artifacts = ["extra"]\n',
        "artifacts/seed/mail/mail.json": "",
      },
      [
        'seed-name tasks/all.json: step \'load\': artifacts/seed has data for "mail", and the env\'s servers are "items" and "shop"',
        'seed-twice artifacts/seed: has two environments of one name, "items": keep one',
      ],
    ],
  ];
  test.each(cases)("%s", async (_name, tree, lines) => {
    expect(await checkedLines(tree)).toEqual(lines);
  });

  test("a field that a step type doesn't have is a warning", async () => {
    using folder = temporaryFolder(steps({ id: "x", type: "deploy_env", env_id: "a", ttl: 1 }));
    const { problems, warnings } = await checkBundle(folder.path);
    expect(problems).toEqual([]);
    expect(warnings).toEqual([{ path: "tasks/t.json: step 'x'", message: 'deploy_env has no "ttl": not used, and not written' }]);
  });

  test("of the original that have no effect here are warned about too", async () => {
    const seed = { id: "y", type: "load_artifact", env_id: "a", env_step_id: "x", artifact_id: "seed" };
    const verify = { id: "z", type: "env_outcome_verifier", env_id: "a", file_artifact_id: "v", prompt_id: "p", verifier_id: null };
    using folder = temporaryFolder(steps({ id: "x", type: "deploy_env", env_id: "a", disk_size_gb: 20 }, seed, verify));
    const { warnings } = await checkBundle(folder.path);
    expect(warnings.map(({ message }) => message)).toEqual([
      'deploy_env makes no use of "disk_size_gb" yet: only written',
      'load_artifact makes no use of "env_step_id" yet: only written',
      'env_outcome_verifier makes no use of "prompt_id" yet: only written',
    ]);
  });
});

describe("B5 files that can't be part of an image", () => {
  test("are refused, unless the image doesn't see them", async () => {
    const tree = {
      ...server("a", environmentName("a")),
      "envs/a/out": ["/etc/hostname"],
      "envs/a/sub/up": [".."],
      "envs/a/gone": ["nowhere"],
    } as const;
    expect(await checkedLines(tree)).toEqual([
      "link-up envs/a/sub/up: leads to a folder that holds it: remove the link",
      "outside envs/a/out: leads out of the bundle: put what it points to into the bundle",
      "special envs/a/gone: is a broken link: it isn't there",
    ]);
    expect(await checkedLines({ ...tree, "envs/a/.dockerignore": "out\nsub\ngone\n" })).toEqual([]);
    expect(await checkedLines({ ...tree, "envs/a/folder": ["/etc"], "envs/a/.dockerignore": "*\n!Dockerfile\n" })).toEqual([]);
  });

  test("an ignore file that holds no pattern is refused", async () => {
    expect(await checkedLines({ ...server("a", environmentName("a")), "envs/a/.dockerignore": "a[\n" })).toEqual([
      `bad-config envs/a/.dockerignore: holds a pattern that can't be one: "a[" is no pattern: a [ or a \\ in it isn't ended`,
    ]);
  });
});

describe("B7 a check", () => {
  test("opens no store: a plan that a check refuses never touches the one it is given", async () => {
    using folder = temporaryFolder({
      ...SUITE,
      ...server("z", "x = 1\n"),
      "tasks/z.json": '[{"id":"d","type":"deploy_env","env_id":"z"}]',
    });
    const { problems: checked } = await checkBundle(folder.path);
    const planned = await planBundle({ folder: folder.path, store: untouchableStore(), selection: { tasks: ["z"], evals: [] } });
    expect(checked.map(({ code }) => code)).toEqual(["no-card", "unknown-key"]);
    expect(planned).toEqual({ plan: null, problems: checked });
  });

  test("needs no place for a state folder", async () => {
    using folder = temporaryFolder(SUITE);
    const before = process.env["AGENT_ENV_STATE_DIR"];
    process.env["AGENT_ENV_STATE_DIR"] = "/dev/null/nowhere";
    try {
      expect((await checkBundle(folder.path)).problems).toEqual([]);
    } finally {
      if (before === undefined) delete process.env["AGENT_ENV_STATE_DIR"];
      else process.env["AGENT_ENV_STATE_DIR"] = before;
    }
  });

  test("changes no file and no time of the bundle, and reports its problems sorted", async () => {
    using folder = temporaryFolder({ ...SUITE, ...server("z", "x = 1\n"), ...multi("b", ""), "artifacts/a/empty/": "" });
    const before = snapshot(folder.path);
    const { problems } = await checkBundle(folder.path);
    expect(problems.map(({ path }) => path)).toEqual(["artifacts/a", "envs/b: env.toml", "envs/z: env.toml", "envs/z: env.toml"]);
    expect(snapshot(folder.path)).toEqual(before);
  });
});

function snapshot(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => `${path} ${statSync(join(folder, path)).mtimeMs}`)
    .sort();
}
