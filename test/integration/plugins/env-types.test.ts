import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { settingsOf } from "../../../build-service/src/config/settings.ts";
import { findPlugins, loadPlugins } from "../../../build-service/src/plugins/plugins.ts";
import { readVersion } from "../../../build-service/src/store/versions.ts";
import { conformanceFindings } from "../../../build-service/src/types/conformance.ts";
import { findType, type Registry } from "../../../build-service/src/types/registry.ts";
import { checkedLines } from "../../fixtures/bundle-problems.ts";
import { type FolderTree, temporaryFolder, writeTree } from "../../fixtures/folder.ts";
import { changes, lines, make } from "../../fixtures/make-bundle.ts";
import { memoryStore } from "../../fixtures/memory-store.ts";
import { DIARIES, linkAgentEnv, projectOf, ROBOTS } from "../../fixtures/plugins.ts";
import { recordingBuilder } from "../../fixtures/recording-builder.ts";

const project = temporaryFolder({ ...projectOf("@acme/robots", "diaries"), ...ROBOTS, ...DIARIES });
let registry: Registry;
beforeAll(async () => {
  linkAgentEnv(project.path);
  const settings = settingsOf({ file: null, table: {}, warnings: [], env: {} });
  const plugins = await loadPlugins(findPlugins({ cwd: project.path, settings, commands: [] }));
  expect(plugins.contributions.filter(({ status }) => status !== "active")).toEqual([]);
  registry = plugins.registry;
});
afterAll(() => project[Symbol.dispose]());

const IMAGE = "FROM base\n";
const robot = (name: string, toml = ""): FolderTree => ({
  [`envs/${name}/Dockerfile.arm`]: IMAGE,
  [`envs/${name}/env.toml`]: `type = "robot"\n${toml}`,
});
const storefront = (name: string, toml = ""): FolderTree => ({
  [`envs/${name}/Dockerfile.backend`]: IMAGE,
  [`envs/${name}/Dockerfile.frontend`]: IMAGE,
  [`envs/${name}/Dockerfile.search`]: IMAGE,
  [`envs/${name}/env.toml`]: `type = "storefront"\n${toml}`,
});
const named = (name: string) => `environment_name = "${name}"\n`;
const task = (...envs: string[]): FolderTree => ({
  "tasks/t.json": JSON.stringify(envs.map((env_id) => ({ id: env_id, type: "deploy_env", env_id }))),
});

describe("B1.1 a plugin's env types, one of its own and one that extends website", () => {
  test("B2.1 are written with an image for each <role>_image key, reused, and rewritten on an edit of what an image is built from", async () => {
    using bundle = temporaryFolder({
      ...robot("arm", `${named("arm")}firmware = "v2"\n`),
      ...storefront("shop", named("shop")),
      "envs/shop/.dockerignore": "**\n",
      "envs/shop/Dockerfile.search.dockerignore": "Dockerfile.backend\nDockerfile.frontend\nenv.toml\n.dockerignore\n",
      "envs/shop/index.txt": "one",
      ...task("arm", "shop"),
    });
    const store = memoryStore();
    const builder = recordingBuilder();
    const again = () => make({ folder: bundle.path, store, builder, registry });

    const { plan } = await again();
    const root = plan.bundle.idRoot;
    const image = (id: string) => ({ id: `${root}/${id}`, version: 1, type: "docker_image" });
    expect(lines(plan)).toEqual([
      "envs/arm (Dockerfile.arm image): v1 (new)",
      "envs/arm: v1 (new)",
      "envs/shop (Dockerfile.backend image): v1 (new)",
      "envs/shop (Dockerfile.frontend image): v1 (new)",
      "envs/shop (Dockerfile.search image): v1 (new)",
      "envs/shop: v1 (new)",
      "tasks/t.json: v1 (new)",
    ]);
    expect(await readVersion(store, "env", `${root}/arm`, 1)).toEqual({
      id: `${root}/arm`,
      type: "robot",
      version: 1,
      metadata: {},
      firmware: "v2",
      environment_name: "arm",
      env_provider_type: "gateway",
      arm_docker_image_artifact: image("arm__arm_image"),
    });
    expect(await readVersion(store, "env", `${root}/shop`, 1)).toEqual({
      id: `${root}/shop`,
      type: "storefront",
      version: 1,
      metadata: {},
      theme: "plain",
      environment_name: "shop",
      service_name: "shop",
      env_provider_type: "gateway",
      backend_docker_image_artifact: image("shop__backend_image"),
      frontend_docker_image_artifact: image("shop__frontend_image"),
      search_docker_image_artifact: image("shop__search_image"),
    });

    expect(changes((await again()).plan)).toEqual([]);
    writeTree(bundle.path, { "envs/shop/index.txt": "two" });
    expect(changes((await again()).plan)).toEqual([
      "envs/shop (Dockerfile.search image): v2 (files changed: index.txt)",
      `envs/shop: v2 (artifact ${root}/shop__search_image is written anew (v1 → v2))`,
    ]);
    writeTree(bundle.path, { "envs/arm/run.py": "" });
    expect(changes((await again()).plan)).toEqual([
      "envs/arm (Dockerfile.arm image): v2 (files added: run.py)",
      `envs/arm: v2 (artifact ${root}/arm__arm_image is written anew (v1 → v2))`,
    ]);
    writeTree(bundle.path, robot("arm", `${named("arm")}firmware = "v3"\n`));
    expect(changes((await again()).plan)).toEqual([
      "envs/arm (Dockerfile.arm image): v3 (files changed: env.toml)",
      `envs/arm: v3 (config changed; artifact ${root}/arm__arm_image is written anew (v2 → v3))`,
    ]);
    expect(changes((await again()).plan)).toEqual([]);
  });

  test("B3.2 take their name from the card in the source of the image that they say", async () => {
    const card = '@environment_card(name="found")\nclass A: ...\n';
    const tree = { ...robot("arm"), "envs/arm/server.py": card, ...storefront("shop"), "envs/shop/server.py": card };
    expect(await checkedLines(tree, registry)).toEqual([]);
  });

  test.each(["robot", "storefront"])("B10 %s references what it declares, and nothing else", async (name) => {
    const type = findType(registry, "env", name);
    if (type === undefined) throw new Error(`${name} isn't registered`);
    expect(await conformanceFindings(type, registry)).toEqual([]);
  });
});

describe("B5 B6 a plugin's env types are refused for the same reasons, as they call the same helpers", () => {
  const RESERVED =
    '"gateway" is a name that the provider "gateway" gives its own containers (db-mcp, gateway, pgweb, servicedb, website-browser)';
  const KEYS = {
    robot: "arm_image, firmware, environment_name, env_provider_type, type, id",
    storefront: "backend_image, frontend_image, environment_name, env_provider_type, search_image, theme, type, id",
  };
  const types = [
    ["robot", robot, { image: "arm_image", own: "firmware", cardOf: "arm image" }],
    ["storefront", storefront, { image: "search_image", own: "theme", cardOf: "backend image" }],
  ] as const;

  describe.each(types)("%s", (type, env, { image, own, cardOf }) => {
    const cases: [string, FolderTree, string[]][] = [
      [
        "an unknown key, and [metadata]",
        env("a", `${named("a")}colour = "red"\n[metadata]\nx = 1\n`),
        [`unknown-key envs/a: env.toml: unknown keys "colour" and "metadata": ${type} takes ${KEYS[type]}`],
      ],
      [
        "values of a wrong type, of the core's keys and its own",
        env("a", `environment_name = 1\nenv_provider_type = []\n${own} = 2\n`),
        [
          "wrong-value envs/a: env.toml: env_provider_type: expected a string, and found []",
          "wrong-value envs/a: env.toml: environment_name: expected a string, and found 1",
          `wrong-value envs/a: env.toml: ${own}: expected a string, and found 2`,
        ],
      ],
      [
        "a provider that nobody has",
        env("a", `${named("a")}env_provider_type = "elsewhere"\n`),
        [
          'unknown-provider envs/a: env.toml: env_provider_type: there is no provider "elsewhere": installed are cloud, gateway, server, single',
        ],
      ],
      [
        "an empty name",
        env("a", named("")),
        [
          "empty-name envs/a: env.toml: environment_name: is empty: write the server's name, or leave the key out to take it from the card in its source",
        ],
      ],
      [
        "a name of the gateway's own containers",
        env("a", named("gateway")),
        [`reserved-name envs/a: env.toml: ${RESERVED}: choose another`],
      ],
      ["a reserved name where the provider has no gateway", env("a", `${named("gateway")}env_provider_type = "cloud"\n`), []],
      [
        "no card and no name",
        env("a"),
        [`no-card envs/a: env.toml: no environment card with a name is in the source of the ${cardOf}: set environment_name`],
      ],
      [
        "other keys beside dockerfile",
        env("a", `${named("a")}${image} = { dockerfile = "Dockerfile.x", build_args = {} }\n`),
        [
          `image-file envs/a: ${image}: there is no file "Dockerfile.x" in this folder to build: name a file of this folder, relative to it`,
          `image-keys envs/a: ${image}: takes dockerfile and nothing beside it, and has "build_args": remove it`,
        ],
      ],
      [
        "a Dockerfile that leads out",
        env("a", `${named("a")}${image} = { dockerfile = "../Dockerfile" }\n`),
        [
          `image-file envs/a: ${image}: there is no file "../Dockerfile" in this folder to build: name a file of this folder, relative to it`,
        ],
      ],
      [
        "an image of another kind",
        env("a", `${named("a")}${image} = { env = "b" }\n`),
        [
          `bad-ref envs/a: ${image}: expected { dockerfile = "<path in this folder>" }, "<name or id>" or { artifact = "<name or id>", version = <whole number from 1> }, and found {"env":"b"}`,
        ],
      ],
    ];
    test.each(cases)("%s", async (_name, tree, expected) => {
      expect(await checkedLines(tree, registry)).toEqual(expected);
    });

    test("a missing Dockerfile.<role>", async () => {
      const role = image.replace("_image", "");
      const { [`envs/a/Dockerfile.${role}`]: _gone, ...tree } = env("a", named("a"));
      expect(await checkedLines(tree, registry)).toEqual([
        `image-file envs/a: ${image}: there is no file "Dockerfile.${role}" in this folder to build: add it, or name another with { dockerfile = … } or an image's id`,
      ]);
    });

    test("a child of a multi, which takes built-in types", async () => {
      const tree = { ...env("a", named("a")), "envs/m/env.toml": 'type = "multi"\nmcp_server_envs = ["a"]\n' };
      expect(await checkedLines(tree, registry)).toEqual([
        `wrong-kind envs/m: mcp_server_envs[0]: "a" is this bundle's env of type ${type} (envs/a), and the field takes an env of type mcp_server`,
      ]);
    });
  });

  test("a provider of one MCP server, on a type that is a website", async () => {
    const single = 'env_provider_type = "single"\n';
    const tree = { ...robot("a", `${named("a")}${single}`), ...storefront("b", `${named("b")}${single}`) };
    expect(await checkedLines(tree, registry)).toEqual([
      'provider-cannot envs/b: env.toml: the provider "single" deploys one MCP server only, and this is of type storefront',
    ]);
  });

  test("on a provider that gives a multi one card, an MCP server and a website of one name", async () => {
    const tree = {
      "envs/a/Dockerfile": IMAGE,
      "envs/a/env.toml": named("shop"),
      "envs/b/Dockerfile.backend": IMAGE,
      "envs/b/Dockerfile.frontend": IMAGE,
      "envs/b/env.toml": `type = "website"\n${named("shop")}`,
      "envs/m/env.toml": 'type = "multi"\nmcp_server_envs = ["a"]\nwebsite_envs = ["b"]\nenv_provider_type = "cloud"\n',
    };
    expect(await checkedLines(tree, registry)).toEqual([
      'name-shared envs/m: on the provider "cloud" a multi has one card, so no MCP server and website may share a name: "shop"',
    ]);
  });

  test("a type that reads more than its toml", async () => {
    const tree = { "envs/a/Dockerfile": IMAGE, "envs/a/env.toml": `type = "diary"\n${named("a")}` };
    expect(await checkedLines(tree, registry)).toEqual([
      "cannot-write envs/a: the type diary reads more than its toml and what that names, so no run can tell when to write it anew",
    ]);
  });

  test("a step's own fields", async () => {
    const tree = { "tasks/t.json": JSON.stringify([{ id: "a", type: "wave", times: 0 }]) };
    expect(await checkedLines(tree, registry)).toEqual(["bad-step tasks/t.json: step 'a': times: expected more than 0, and found 0"]);
  });
});
