import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { agentEnv } from "../../fixtures/agent-env.ts";
import { type FolderTree, temporaryFolder } from "../../fixtures/folder.ts";
import { dockerListener } from "./docker-listener.ts";
import { deploying, multi, named, server } from "./refusal.ts";

const TREE: FolderTree = {
  ...server("a", `${named("a")}port = 1\n`),
  ...server("b", named("gateway")),
  ...multi("m", "mcp_server_envs = []\n"),
  ...deploying("a", "b", "m"),
};
const LINES = [
  'envs/a: env.toml: unknown key "port": mcp_server takes image, environment_name, env_provider_type, type, id',
  'envs/b: env.toml: "gateway" is a name that the provider "gateway" gives its own containers (db-mcp, gateway, pgweb, servicedb, website-browser): choose another',
  "envs/m: env.toml: names no env: list MCP servers in mcp_server_envs, websites in website_envs",
  "3 problems; nothing was built, written or started",
  "",
].join("\n");
const PROBLEMS = [
  {
    code: "unknown-key",
    path: "envs/a: env.toml",
    message: 'unknown key "port": mcp_server takes image, environment_name, env_provider_type, type, id',
  },
  {
    code: "reserved-name",
    path: "envs/b: env.toml",
    message:
      '"gateway" is a name that the provider "gateway" gives its own containers (db-mcp, gateway, pgweb, servicedb, website-browser): choose another',
  },
  {
    code: "no-envs",
    path: "envs/m: env.toml",
    message: "names no env: list MCP servers in mcp_server_envs, websites in website_envs",
  },
];

describe("B5 B7 the command line of a refused bundle", () => {
  test.each([
    ["bundle check", ["bundle", "check"], []],
    ["bundle plan", ["bundle", "plan"], ["--sandbox", "process"]],
    ["run", ["run"], ["--sandbox", "process"]],
    ["run --dry-run", ["run"], ["--sandbox", "process", "--dry-run"]],
  ])("%s prints a line a problem, ends with 1 and leaves nothing", async (_name, words, options) => {
    using bundle = temporaryFolder(TREE);
    const docker = await dockerListener();
    const cli = agentEnv({ DOCKER_HOST: docker.dockerHost });
    try {
      expect(await cli.run(...words, bundle.path, ...options)).toEqual({ exitCode: 1, signal: null, out: "", err: LINES });
      expect(docker.connections()).toBe(0);
      expect(existsSync(cli.stateDir)).toBe(false);
    } finally {
      cli.remove();
      await docker.close();
    }
  });

  test("bundle check --json is one document", async () => {
    using bundle = temporaryFolder(TREE);
    const cli = agentEnv();
    const { exitCode, out, err } = await cli.run("bundle", "check", bundle.path, "--json");
    cli.remove();
    expect({ exitCode, err }).toEqual({ exitCode: 1, err: "" });
    expect(JSON.parse(out)).toEqual({
      format_version: 1,
      bundle: `@local${bundle.path}`,
      problems: PROBLEMS,
      warnings: [],
      store_names: [],
    });
  });

  test("bundle check tells names that only the store can have, with problems and without", async () => {
    const task = (...steps: object[]): FolderTree => ({ ...server("items"), "tasks/x.json": JSON.stringify(steps) });
    const misspelt = { id: "a", type: "deploy_env", env_id: "itmes" };
    const note = `tasks/x.json: step 'a': env_id: not in this bundle, looked up in the store when it runs: env "itmes" (probably "items")\n`;
    using right = temporaryFolder(task(misspelt));
    using wrong = temporaryFolder(task({ ...misspelt, depends_on: ["b"] }));
    const cli = agentEnv();
    const checked = await cli.run("bundle", "check", right.path);
    const refused = await cli.run("bundle", "check", wrong.path);
    const { out } = await cli.run("bundle", "check", right.path, "--json");
    cli.remove();
    expect(checked).toMatchObject({ exitCode: 0, out: `${right.path}: 2 entries, no problems\n${note}`, err: "" });
    expect(refused).toMatchObject({
      exitCode: 1,
      out: note,
      err: `tasks/x.json: step 'a': depends_on: "b" is no step of this task: its steps are "a"\n1 problem; nothing was built, written or started\n`,
    });
    expect(JSON.parse(out).store_names).toEqual([{ path: "tasks/x.json: step 'a': env_id", kind: "env", id: "itmes", near: "items" }]);
  });

  test("run --json is an event a problem, then the result", async () => {
    using bundle = temporaryFolder(TREE);
    const cli = agentEnv();
    const { exitCode, out, err } = await cli.run("run", bundle.path, "--sandbox", "process", "--json");
    cli.remove();
    expect({ exitCode, err }).toEqual({ exitCode: 1, err: "" });
    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
    const events = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events).toEqual([
      ...PROBLEMS.map((problem) => ({ at, kind: "problem", problem })),
      { at, kind: "result", format_version: 1, exit_code: 1, problems: PROBLEMS },
    ]);
  });

  test("a folder that isn't there is a problem of bundle check, and the command line's of run", async () => {
    const cli = agentEnv();
    const check = await cli.run("bundle", "check", "nowhere");
    const run = await cli.run("run", "nowhere");
    cli.remove();
    expect(check).toMatchObject({
      exitCode: 1,
      out: "",
      err: "nowhere: can't be opened: it isn't there\n1 problem; nothing was built, written or started\n",
    });
    expect(run).toMatchObject({ exitCode: 1, out: "" });
    expect(run.err).toMatch(/^nowhere: no such bundle\n {2}it is no folder in /);
  });
});
