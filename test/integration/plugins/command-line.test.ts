import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Problem } from "@agent-env/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentEnv, agentEnv, NO_DOCKER } from "../../fixtures/agent-env.ts";
import { type FolderTree, temporaryFolder, writeTree } from "../../fixtures/folder.ts";
import { DIARIES, linkAgentEnv, pluginPackage, projectOf, ROBOTS } from "../../fixtures/plugins.ts";

const COMMAND = "export default ({ argv, settings, print }) => { print(JSON.stringify({ argv, settings })); return 7; };\n";
const DOCKERFILE = "FROM agent-env/sdk:0.1.0\nCOPY . .\n";

/** Plugins with everything that can go wrong. */
const TROUBLED: FolderTree = {
  ...ROBOTS,
  ...pluginPackage(
    "tidy",
    { commands: { tidy: "tidy.js" }, bundles: { yard: "yard", hello: "yard" } },
    { "tidy.js": COMMAND, "yard/envs/a/Dockerfile": DOCKERFILE, "yard/envs/a/env.toml": 'environment_name = "a"\n' },
  ),
  ...pluginPackage(
    "broken",
    { envTypes: { rocket: "rocket.js", boat: "boat.js#boat", car: "car.js", gone: "gone.js" }, bundles: { nowhere: "nowhere" } },
    {
      "rocket.js": 'throw new Error("no fuel");\n',
      "boat.js": "export const ship = 1;\n",
      "car.js": 'export default { kind: "env", type: "cart" };\n',
    },
  ),
  ...DIARIES,
  ...pluginPackage("rivals", { envTypes: { robot: "robot.js" } }, { "robot.js": "export default {};\n" }),
  ...pluginPackage("old", { taskSteps: { jump: "jump.js" } }, {}, { peerDependencies: { "agent-env": "^9.0.0" } }),
  "node_modules/odd/package.json": '{"name": "odd", "agentEnv": {"format": 3}}',
  "node_modules/plain/package.json": '{"name": "plain"}',
};

describe("plugins of a project on the command line", () => {
  const project = temporaryFolder({
    ...projectOf("@acme/robots", "broken", "diaries", "odd", "old", "plain", "rivals", "tidy"),
    ...TROUBLED,
  });
  let cli: AgentEnv;
  beforeAll(() => {
    linkAgentEnv(project.path);
    cli = agentEnv(NO_DOCKER, project.path);
  });
  afterAll(() => {
    cli.remove();
    project[Symbol.dispose]();
  });

  test("plugin list names each with what of it is in effect, and one that fails ends nothing", async () => {
    const { exitCode, out } = await cli.run("plugin", "list");
    expect(exitCode).toBe(0);
    expect(out.split("\n").map((line) => line.trim().replace(/ {2,}/g, " | "))).toEqual([
      "@acme/robots | 1.2.3 | a dependency | adds env type robot, env type storefront, step type wave, env provider cloud, env provider single; not in effect: robot (name-conflict)",
      "broken | 1.2.3 | a dependency | adds env type rocket, env type boat, env type car, env type gone, bundle nowhere; not in effect: rocket (load-failed), boat (invalid-plugin), car (invalid-plugin), gone (load-failed), nowhere (load-failed)",
      "diaries | 1.2.3 | a dependency | adds env type diary",
      "odd | a dependency | its package.json: agentEnv.format: expected 1, and found 3",
      "old | 1.2.3 | a dependency | adds step type jump; not in effect: jump (incompatible-core)",
      "rivals | 1.2.3 | a dependency | adds env type robot; not in effect: robot (name-conflict)",
      "tidy | 1.2.3 | a dependency | adds command tidy, bundle yard, bundle hello",
      "",
    ]);
  });

  test("plugin show prints statuses and reasons", async () => {
    const { out } = await cli.run("plugin", "show", "broken", "--json");
    const { contributions } = JSON.parse(out);
    expect(contributions.map(({ name, status, code, why }: Record<string, string>) => ({ name, status, code, why }))).toEqual([
      { name: "rocket", status: "failed", code: "load-failed", why: 'the plugin "broken" has one, and failed to load: no fuel' },
      {
        name: "boat",
        status: "skipped",
        code: "invalid-plugin",
        why: 'the plugin "broken" has one, which can\'t be used: boat.js exports no boat',
      },
      {
        name: "car",
        status: "skipped",
        code: "invalid-plugin",
        why: expect.stringContaining("the plugin \"broken\" has one, which can't be used: its tomlKeys isn't a table of string, "),
      },
      {
        name: "gone",
        status: "failed",
        code: "load-failed",
        why: 'the plugin "broken" has one, and failed to load: gone.js is no file of the package',
      },
      {
        name: "nowhere",
        status: "failed",
        code: "load-failed",
        why: 'the plugin "broken" has one, and nowhere is no folder of the package',
      },
    ]);
  });

  test("--no-load reads manifests only", async () => {
    const { out, err } = await cli.run("plugin", "show", "broken", "--no-load", "--json");
    const statuses = JSON.parse(out).contributions.map(({ name, status, code }: Record<string, string>) => `${name} ${status} ${code}`);
    expect(err).toBe("");
    expect(statuses).toEqual([
      "rocket unloaded not-loaded",
      "boat unloaded not-loaded",
      "car unloaded not-loaded",
      "gone unloaded not-loaded",
      "nowhere failed load-failed",
    ]);
  });

  test("B7 plugin check of one that is in order passes, of one that isn't is exit code 1, and no store and no Docker is asked", async () => {
    expect(await cli.run("plugin", "check", "tidy")).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining("tidy: all of it is in effect\n"),
    });
    const failed = await cli.run("plugin", "check", "diaries", "old", "rivals");
    expect(failed.exitCode).toBe(1);
    expect(failed.out).toBe(
      [
        "diaries: env type diary: it is an env type and reads its folder, so no bundle can use it",
        'old: step type jump: incompatible-core: the plugin "old" is for agent-env ^9.0.0, and this is 0.1.0',
        'rivals: env type robot: name-conflict: the plugins "@acme/robots" and "rivals" both have one, so neither counts: [plugins."@acme/robots"] names = ["robot"] would give it to that one',
        "not all of it is in effect",
        "",
      ].join("\n"),
    );
    expect(existsSync(cli.stateDir)).toBe(false);
  });

  test("N8 what a plugin prints as it is loaded is no part of a --json document", async () => {
    using project = temporaryFolder({
      ...projectOf("chatty"),
      ...pluginPackage("chatty", { envTypes: { robot: "robot.js" } }, { "robot.js": 'console.log("hello");\nexport default {};\n' }),
      "bundle/envs/a/Dockerfile": DOCKERFILE,
      "bundle/envs/a/env.toml": 'environment_name = "a"\n',
    });
    const own = agentEnv(NO_DOCKER, project.path);
    const { out, err } = await own.run("bundle", "check", "bundle", "--json");
    own.remove();
    expect(JSON.parse(out)).toMatchObject({ format_version: 1, problems: [] });
    expect(err).toContain("hello\n");
  });

  test("what is replaced by the configuration is in effect", async () => {
    using config = temporaryFolder({ "config.toml": '[plugins."@acme/robots"]\nnames = ["robot"]\n' });
    const { exitCode, out } = await cli.run("plugin", "check", "rivals", "--config", join(config.path, "config.toml"));
    expect({ exitCode, last: out.trimEnd().split("\n").at(-1) }).toEqual({ exitCode: 0, last: "rivals: all of it is in effect" });
  });

  test("every message about an unknown name says why a plugin's isn't there", async () => {
    const bundle = join(project.path, "bundle");
    mkdirSync(bundle, { recursive: true });
    writeTree(bundle, {
      "envs/a/Dockerfile": DOCKERFILE,
      "envs/a/env.toml": 'type = "rocket"\n',
      "envs/b/Dockerfile": DOCKERFILE,
      "envs/b/env.toml": 'type = "robot"\n',
      "tasks/t.json": '[{"id": "j", "type": "jump"}]',
    });
    const { exitCode, out } = await cli.run("bundle", "check", "bundle", "--json");
    expect(exitCode).toBe(1);
    expect(JSON.parse(out).problems.map(({ path, message }: Problem) => `${path}: ${message.slice(message.indexOf("; "))}`)).toEqual([
      'envs/a: ; the plugin "broken" has one, and failed to load: no fuel',
      'envs/b: ; the plugins "@acme/robots" and "rivals" both have one, so neither counts: [plugins."@acme/robots"] names = ["robot"] would give it to that one',
      "tasks/t.json: step 'j': ; the plugin \"old\" is for agent-env ^9.0.0, and this is 0.1.0",
    ]);
  });

  test("a plugin that isn't there is named with those there are", async () => {
    expect((await cli.run("plugin", "show", "nope", "--no-load")).err).toBe(
      "nope: no such plugin\n  this project's are @acme/robots, broken, diaries, odd, old, rivals, tidy\n  Next: add it to the project's dependencies, or to [plugins] packages\n",
    );
  });

  test("a plugin's command runs by its name, with its own settings, and never in place of a built-in one", async () => {
    using config = temporaryFolder({ "config.toml": '[plugins.tidy]\nhard = true\n[plugins.old]\nx = "not yours"\n' });
    const own = agentEnv({ ...NO_DOCKER, AGENT_ENV_CONFIG: join(config.path, "config.toml") }, project.path);
    expect(await own.run("tidy", "--now", "x")).toMatchObject({
      exitCode: 7,
      out: '{"argv":["--now","x"],"settings":{"hard":true}}\n',
      err: "",
    });
    own.remove();
  });

  test("a plugin's command that throws is told as that plugin's failure, with its stack only where it is asked for", async () => {
    using wild = temporaryFolder({
      ...projectOf("wild"),
      ...pluginPackage(
        "wild",
        { commands: { roar: "roar.js" } },
        { "roar.js": 'export default () => { throw new Error("no voice"); };\n' },
      ),
    });
    const own = agentEnv(NO_DOCKER, wild.path);
    expect(await own.run("roar")).toMatchObject({
      exitCode: 1,
      out: "",
      err: 'roar: the command failed\n  the plugin "wild" has it, and it threw: no voice\n  Next: run it with --verbose for the stack, and report it to whoever that plugin comes from\n',
    });
    expect((await own.run("roar", "--verbose")).err).toContain("roar.js:1");
    own.remove();
  });

  test("--help lists the commands of plugins, and still helps where they can't be read", async () => {
    const { exitCode, out } = await cli.run("--help");
    expect({ exitCode, end: out.slice(out.indexOf("Commands of plugins")) }).toEqual({
      exitCode: 0,
      end: "Commands of plugins:\n  tidy  of the plugin tidy\n",
    });
    expect((await cli.run("run", "--help")).out).not.toContain("tidy");
    using config = temporaryFolder({ "config.toml": "[run\n" });
    const broken = agentEnv({ ...NO_DOCKER, AGENT_ENV_CONFIG: join(config.path, "config.toml") }, project.path);
    const helped = await broken.run("--help");
    broken.remove();
    expect(helped).toMatchObject({
      exitCode: 0,
      err: "",
      out: expect.stringMatching(/\nCommands of plugins can't be listed: .*config\.toml: /),
    });
  });

  test("an installed bundle runs by its name, or with its package in front where two have it", async () => {
    expect((await cli.run("run", "--json")).out).toBe('{"format_version":1,"bundles":["hello","yard","tidy/hello"]}\n');
    const checked = await cli.run("plugin", "check", "tidy", "--json");
    expect(JSON.parse(checked.out)).toMatchObject({ ok: true });
    const refused = await cli.run("run", "yard", "--dry-run", "--sandbox", "process");
    expect(refused).toMatchObject({ exitCode: 1, err: expect.stringContaining("yard: has no task") });
  });
});
