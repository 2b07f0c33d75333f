import { describe, expect, test } from "vitest";
import { checkedLines } from "../../../test/fixtures/bundle-problems.ts";
import { type FolderTree, temporaryFolder, writeTree } from "../../../test/fixtures/folder.ts";
import { BUILT_IN, stepTypeNames } from "../types/registry.ts";
import { checkBundle } from "./check.ts";

const named = (name: string, extra = ""): FolderTree => ({
  [`envs/${name}/Dockerfile`]: "FROM scratch\n",
  [`envs/${name}/env.toml`]: `environment_name = "${name}"\n${extra}`,
});
const task = (...steps: object[]): string => JSON.stringify(steps);

describe("B2.2 what an image key takes", () => {
  const site = (toml: string): FolderTree => ({
    "envs/x/env.toml": `type = "website"\nenvironment_name = "x"\n${toml}`,
    "envs/x/Dockerfile.frontend": "",
    "envs/x/docker/Dockerfile": "",
    "envs/x/docker/x": "",
    "envs/other": "",
  });
  const cases: [string, string, string[]][] = [
    ["a Dockerfile elsewhere in the folder", 'backend_image = { dockerfile = "docker/Dockerfile" }', []],
    ["one that is there in the end", 'backend_image = { dockerfile = "./docker/../docker/Dockerfile" }', []],
    ["an image of the store", 'backend_image = "crm-image"', []],
    ["an image of the store at a version", 'backend_image = { artifact = "crm-image", version = 2 }', []],
    [
      "left out, without its file",
      "",
      [
        'image-file envs/x: backend_image: there is no file "Dockerfile.backend" in this folder to build: add it, or name another with { dockerfile = … } or an image\'s id',
      ],
    ],
    [
      "other keys beside dockerfile",
      'backend_image = { dockerfile = "docker/Dockerfile", build_args = {}, target = "x" }',
      ['image-keys envs/x: backend_image: takes dockerfile and nothing beside it, and has "build_args" and "target": remove them'],
    ],
    [
      "a path that is absolute",
      'backend_image = { dockerfile = "/etc/hostname" }',
      [
        'image-file envs/x: backend_image: there is no file "/etc/hostname" in this folder to build: name a file of this folder, relative to it',
      ],
    ],
    [
      "a path that leaves the folder",
      'backend_image = { dockerfile = "../other" }',
      ['image-file envs/x: backend_image: there is no file "../other" in this folder to build: name a file of this folder, relative to it'],
    ],
    [
      "a folder",
      'backend_image = { dockerfile = "docker" }',
      [
        'image-file envs/x: backend_image: there is no file "docker" in this folder to build: what has that name is a folder, or leads out of this one',
      ],
    ],
    [
      "another letter case",
      'backend_image = { dockerfile = "dockerfile.Frontend" }',
      [
        'image-file envs/x: backend_image: there is no file "dockerfile.Frontend" in this folder to build: Dockerfile.frontend is there, and names are case-sensitive',
      ],
    ],
    [
      "a registry's image",
      'backend_image = { ref = "ghcr.io/x/y:1" }',
      [
        "image-ref envs/x: backend_image: an image of a registry isn't supported yet: build one with { dockerfile = … }, or name one of the bundle or the store",
      ],
    ],
    [
      "anything else",
      "backend_image = 1\nfrontend_image = { artifact = 1 }",
      [
        'bad-ref envs/x: backend_image: expected { dockerfile = "<path in this folder>" }, "<name or id>" or { artifact = "<name or id>", version = <whole number from 1> }, and found 1',
        'bad-ref envs/x: frontend_image: expected "<name or id>" or { artifact = "<name or id>", version = <whole number from 1> }, and found {"artifact":1}',
      ],
    ],
    [
      "a version that is no whole number",
      'backend_image = { artifact = "crm-image", version = 1.0 }',
      [
        'bad-ref envs/x: backend_image: expected "<name or id>" or { artifact = "<name or id>", version = <whole number from 1> }, and found {"artifact":"crm-image","version":1}: a number with a point is no whole one in TOML',
      ],
    ],
  ];
  test.each(cases)("%s", async (_name, toml, lines) => {
    expect(await checkedLines(site(toml))).toEqual(lines);
  });

  test("a link to a Dockerfile outside the folder is none of it", async () => {
    expect(
      await checkedLines({
        ...named("a"),
        "Dockerfile.shared": "",
        "envs/a/Dockerfile.linked": ["../../Dockerfile.shared"],
        "envs/a/env.toml": 'environment_name = "a"\nimage = { dockerfile = "Dockerfile.linked" }\n',
      }),
    ).toEqual([
      'image-file envs/a: image: there is no file "Dockerfile.linked" in this folder to build: what has that name is a folder, or leads out of this one',
    ]);
  });
});

describe("B5 references", () => {
  const cases: [string, FolderTree, string[]][] = [
    [
      "of a wrong shape",
      {
        ...named("a"),
        "envs/m/env.toml": 'type = "multi"\nmcp_server_envs = [1, { env = "a", v = 1 }, "", "@x/y", "@local//y", { artifact = "a" }]\n',
      },
      [
        'bad-ref envs/m: mcp_server_envs[0]: expected "<name or id>" or { env = "<name or id>", version = <whole number from 1> }, and found 1',
        'bad-ref envs/m: mcp_server_envs[1]: expected "<name or id>" or { env = "<name or id>", version = <whole number from 1> }, and found {"env":"a","v":1}',
        'bad-ref envs/m: mcp_server_envs[2]: expected "<name or id>" or { env = "<name or id>", version = <whole number from 1> }, and found ""',
        'bad-ref envs/m: mcp_server_envs[3]: "@x/y" is no id: one opens with "@local/" or with no @ at all',
        'bad-ref envs/m: mcp_server_envs[4]: "@local//y" is no legal id: one of its parts between slashes is empty',
        'bad-ref envs/m: mcp_server_envs[5]: expected "<name or id>" or { env = "<name or id>", version = <whole number from 1> }, and found {"artifact":"a"}',
      ],
    ],
    [
      "to what is pinned, of another type, nearly right, or ignored",
      {
        ...named("crm"),
        "envs/site/env.toml": 'type = "website"\nenvironment_name = "site"\nbackend_image = "b"\nfrontend_image = "f"\n',
        "envs/stray": "",
        "envs/m/env.toml": 'type = "multi"\nmcp_server_envs = [{ env = "crm", version = 1 }, "site", "Crm", "stray"]\n',
      },
      [
        "ignored-ref envs/m: mcp_server_envs[3]: names the file envs/stray, which the bundle ignores: an entry of envs/ is a folder: put the file into one",
        'near-ref envs/m: mcp_server_envs[2]: "Crm" isn\'t in this bundle, but "crm" is: names are case-sensitive',
        'pinned envs/m: mcp_server_envs[0]: "crm" is this bundle\'s own, which is written by this run and has no fixed version: leave out the version',
        'wrong-kind envs/m: mcp_server_envs[1]: "site" is this bundle\'s env of type website (envs/site), and the field takes an env of type mcp_server',
      ],
    ],
    [
      "in tasks",
      {
        ...named("crm"),
        "artifacts/tree/a": "",
        "artifacts/tree/b": "",
        "artifacts/seed/artifact.toml": 'type = "environment"\nenvironment_name = "crm"\n',
        "artifacts/seed/x": "",
        "tasks/t.json": task(
          { id: "a", type: "deploy_env", env_id: "crm", env_version: 1 },
          { id: "b", type: "deploy_env", env_id: "CRM" },
          { id: "c", type: "env_outcome_verifier", env_id: "crm", file_artifact_id: "tree" },
          { id: "d", type: "load_artifact", env_id: "@foo/bar", artifacts: [{ id: "seed" }, { id: "seed", version: 2 }] },
        ),
      },
      [
        'bad-ref tasks/t.json: step \'d\': env_id: "@foo/bar" is no id: one opens with "@local/" or with no @ at all',
        'near-ref tasks/t.json: step \'b\': env_id: "CRM" isn\'t in this bundle, but "crm" is: names are case-sensitive',
        "pinned tasks/t.json: step 'a': env_id: \"crm\" is this bundle's own, which is written by this run and has no fixed version: leave out the version",
        "pinned tasks/t.json: step 'd': artifacts[1].id: \"seed\" is this bundle's own, which is written by this run and has no fixed version: leave out the version",
        "wrong-kind tasks/t.json: step 'c': file_artifact_id: \"tree\" is this bundle's artifact of type file_artifact_universe (artifacts/tree), and the field takes an artifact of type file",
      ],
    ],
    [
      "in evals, and a task twice",
      { "tasks/a.json": "[]", "evals/e.toml": 'tasks = ["a", { task = "a", version = 1 }, "a", 1]\n' },
      [
        'bad-ref evals/e.toml: tasks[3]: expected "<name or id>" or { task = "<name or id>", version = <whole number from 1> }, and found 1',
        "eval-twice evals/e.toml: tasks[2]: is tasks[0] again: a task is listed once",
        'pinned evals/e.toml: tasks[1]: "a" is this bundle\'s own, which is written by this run and has no fixed version: leave out the version',
      ],
    ],
    [
      "types that nobody knows",
      {
        ...named("a", 'type = "mcp"\n'),
        "envs/g/env.toml": 'type = "gateway_server"\n',
        "envs/s/env.toml": 'type = "service_db"\n',
        "artifacts/c/artifact.toml": 'type = "cli"\n',
        "tasks/t.json": task({ id: "a", type: "deploy_evn" }, { id: "c", type: "review" }),
      },
      [
        "infra-type envs/g: gateway_server is no type of a bundle's env: a run builds the one in use when it is missing; [envs] default_gateway_env_id chooses another",
        "infra-type envs/s: service_db is no type of a bundle's env: a run that needs one will build it, and none does yet; [envs] default_service_db_env_id, which will choose another, isn't used yet",
        'unknown-type artifacts/c: there is no artifact type "cli": known are docker_image, environment, environment_universe, file, file_artifact_universe',
        'unknown-type envs/a: there is no env type "mcp": known are mcp_server, multi, website',
        `unknown-type tasks/t.json: step 'a': there is no step type "deploy_evn" (probably "deploy_env"): known are ${stepTypeNames(BUILT_IN).join(", ")}`,
        "unknown-type tasks/t.json: step 'c': \"review\" is a step type of the original that isn't supported yet",
      ],
    ],
    [
      "of a step to others",
      {
        ...named("a"),
        "tasks/t.json": task(
          { id: "a", type: "deploy_env", env_id: "a", depends_on: "b" },
          { id: "b", type: "deploy_env", env_id: "a", depends_on: ["a", { task_step_id: "z" }] },
        ),
      },
      [
        "depends-on tasks/t.json: step 'a': depends_on: expected a list of step ids, and found \"b\"",
        'depends-on tasks/t.json: step \'b\': depends_on: "z" is no step of this task: its steps are "a" and "b"',
      ],
    ],
  ];
  test.each(cases)("%s", async (_name, tree, lines) => {
    expect(await checkedLines(tree)).toEqual(lines);
  });

  test("by id are found as by name, and an env and a task may share a name", async () => {
    const tree: FolderTree = {
      "envs/crm/Dockerfile": "",
      "envs/crm/env.toml": 'environment_name = "crm"\nid = "@local/mine/crm"\n',
      "envs/m/env.toml":
        'type = "multi"\nmcp_server_envs = ["@local/mine/crm", "mail", "@local/another/bundle/env", { env = "mail", version = 3 }]\n',
      "envs/n/env.toml": 'environment_name = "n"\nimage = "@local/mine/crm__env_image"\n',
      "tasks/crm.json": task({ id: "a", type: "deploy_env", env_id: "crm" }),
    };
    expect(await checkedLines(tree)).toEqual([]);
  });

  test("an id of the bundle's own root that it doesn't have is refused without a store", async () => {
    using folder = temporaryFolder(named("a"));
    const id = `@local${folder.path}/gone`;
    writeTree(folder.path, {
      "envs/m/env.toml": `type = "multi"\nmcp_server_envs = ["${id}"]\n`,
      "tasks/t.json": task({ id: "x", type: "deploy_env", env_id: id }),
    });
    const { problems } = await checkBundle(folder.path);
    expect(problems).toEqual([
      { code: "foreign-id", path: "envs/m: mcp_server_envs[0]", message: `"${id}" is an id of this bundle, which has no such env` },
      { code: "foreign-id", path: "tasks/t.json: step 'x': env_id", message: `"${id}" is an id of this bundle, which has no such env` },
    ]);
  });
});
