import { existsSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AgentEnv, agentEnv, type Ended, NO_DOCKER } from "../../fixtures/agent-env.ts";
import { temporaryFolder, writeTree } from "../../fixtures/folder.ts";
import { linkAgentEnv, pluginPackage, projectOf } from "../../fixtures/plugins.ts";
import { processesOf } from "../../fixtures/processes-of.ts";
import { PLACES } from "../../fixtures/sandbox-plugin.ts";
import { until } from "../../fixtures/until.ts";

const DOCKERFILE = 'FROM agent-env/sdk:0.1.0\nCOPY . .\nCMD ["node", "server.ts"]\n';
const SERVER = `import { environmentCard, McpEnvironment } from "@agent-env/sdk";
const env = new McpEnvironment(environmentCard({ name: "garden" }));
env.tool("{environment_name}_season", { description: "Tells the season.", run: () => process.env.SEASON ?? "none" });
await env.serve();
`;
const VERIFIER = `
export async function verify(_mcpUrl, { callTool }) {
  const { content } = await callTool("garden_season");
  return [{ result: content[0].text === "spring", description: "the env provider's variable: " + content[0].text }];
}
`;
const steps = (env: string): string =>
  JSON.stringify([
    { id: "deploy", type: "deploy_env", env_id: env },
    { id: "verify", type: "env_outcome_verifier", env_id: env, file_artifact_id: "check" },
  ]);
const SEASONED = 'env_provider_type = "seasoned"\n';
const BUNDLE = {
  "bundle/envs/garden/Dockerfile": DOCKERFILE,
  "bundle/envs/garden/server.ts": SERVER,
  "bundle/envs/garden/env.toml": SEASONED,
  "bundle/envs/wilted/Dockerfile": 'FROM node:24-slim\nCOPY . .\nCMD ["node", "x.js"]\n',
  "bundle/envs/wilted/x.js": 'console.error("no water"); process.exit(3);\n',
  "bundle/envs/wilted/env.toml": `${SEASONED}environment_name = "wilted"\n`,
  "bundle/artifacts/check/check.mjs": VERIFIER,
  "bundle/tasks/tend.json": steps("garden"),
  "bundle/tasks/wilt.json": steps("wilted"),
};
const CONFIG = '[sandbox.providers.swamp]\ntype = "yard"\nmud = "env:MUD?deep"\n[sandbox.providers.lawn]\ntype = "yard"\n';

/** Each command starts a process, and some a deployment. */
const MANY_COMMANDS_MS = 180_000;

/** The deployments that were ever recorded, sorted: where each ran, and what became of it. */
async function recorded(cli: AgentEnv): Promise<string[]> {
  const { out } = await cli.run("env", "list", "--all", "--json");
  const { deployments } = JSON.parse(out);
  return deployments
    .map((one: Record<string, unknown>) => `${one["env_provider_type"]} on ${one["sandbox_type"]}: ${one["status"]}`)
    .sort();
}

describe("a plugin's sandbox provider and a plugin's env provider", () => {
  const project = temporaryFolder({ ...projectOf("@acme/places"), ...PLACES, ...BUNDLE, ".agentenv/config.toml": CONFIG });
  const plugin = join(project.path, "node_modules/@acme");
  let cli: AgentEnv;
  const tend = (sandbox: string, ...more: string[]): Promise<Ended> =>
    cli.run("run", "bundle", "--task", "tend", "--sandbox", sandbox, ...more);
  const yardFolders = (): string[] => (existsSync(join(cli.stateDir, "yard")) ? readdirSync(join(cli.stateDir, "yard")) : []);
  async function expectNothingLeft(): Promise<void> {
    expect(yardFolders()).toEqual([]);
    await until("every process has ended", 5_000, async () => (await processesOf(cli.stateDir)).length === 0);
  }

  beforeAll(() => linkAgentEnv(project.path));
  beforeEach(() => {
    cli = agentEnv(NO_DOCKER, project.path);
  });
  afterEach(async () => {
    // What a failed test left.
    for (const pid of await processesOf(cli.stateDir)) process.kill(pid, "SIGKILL");
    cli.remove();
  });
  afterAll(() => project[Symbol.dispose]());

  test("P4 B1.1 deploy an env, which a verifier reaches, and it is torn down", async () => {
    const { exitCode, out, err } = await tend("yard");
    expect({ exitCode, err }, out).toEqual({ exitCode: 0, err: "" });
    expect(out).toContain("sandbox yard: asked for\n");
    expect(out).toContain("tasks/tend.json: passed (verify 1)");
    expect(await recorded(cli)).toEqual(["seasoned on yard: stopped"]);
    await expectNothingLeft();
  });

  test("B12 a deploy that fails there leaves nothing, and says why", async () => {
    const { exitCode, out } = await cli.run("run", "bundle", "--task", "wilt", "--sandbox", "yard");
    expect(exitCode).toBe(1);
    expect(out).toContain("the process wilted is not ready (before any probe succeeded): it has ended: exit code 3");
    expect(out).toContain("no water");
    expect(await recorded(cli)).toEqual([]);
    await expectNothingLeft();
  });

  test("P4 a chain goes on where a link fails, and what that had started is gone", { timeout: MANY_COMMANDS_MS }, async () => {
    expect((await tend("swamp")).out).toContain("Error: stuck in the mud: deep");
    await expectNothingLeft();
    const { exitCode, out } = await tend("swamp,yard");
    expect({ exitCode }, out).toEqual({ exitCode: 0 });
    expect(out).toContain("it can't be deployed on swamp, so yard is tried: stuck in the mud: deep\n");
    expect(await recorded(cli)).toEqual(["seasoned on yard: stopped"]);
    await expectNothingLeft();
  });

  test("B12 a chain ends where what a link had started can't be removed, and says what is up", { timeout: MANY_COMMANDS_MS }, async () => {
    const locked = agentEnv({ ...NO_DOCKER, YARD_LOCKED: "1", AGENT_ENV_STATE_DIR: cli.stateDir }, project.path);
    const { exitCode, out } = await locked.run("run", "bundle", "--task", "tend", "--sandbox", "swamp,yard");
    locked.remove();
    expect(exitCode).toBe(1);
    const [id = "", ...others] = yardFolders();
    expect(others).toEqual([]);
    expect(out).toContain(
      `  step "deploy": stuck in the mud: deep\n    still up: folder ${cli.stateDir}/yard/${id}: the yard is locked\n    Next: agent-env env stop ${id}\n`,
    );
    expect(await cli.run("gc")).toMatchObject({ exitCode: 0, out: expect.stringMatching(/removed 2 of 2\n$/) });
    await expectNothingLeft();
  });

  test("B12 a deployment that stays is stopped by its id, and where its plugin is gone nothing is pretended", {
    timeout: MANY_COMMANDS_MS,
  }, async () => {
    const up = await cli.run("run", "bundle", "--task", "tend", "--sandbox", "lawn", "--dry-run");
    expect(up, up.err).toMatchObject({ exitCode: 0, out: expect.stringContaining("run from its source on yard") });
    expect(await tend("yard")).toMatchObject({ exitCode: 0 });
    const [{ env_id: id }] = JSON.parse((await cli.run("env", "list", "--all", "--json")).out).deployments;
    const deployed = await cli.run("env", "deploy", "--id", id, "--sandbox", "lawn", "--json");
    expect(deployed, deployed.out).toMatchObject({ exitCode: 0, err: "" });
    const { deployment } = JSON.parse(deployed.out);
    expect(deployment).toMatchObject({ sandbox_type: "yard", status: "up" });

    renameSync(plugin, `${plugin}-away`);
    try {
      expect(await cli.run("env", "stop", deployment.deployment_id)).toEqual({
        exitCode: 1,
        signal: null,
        out: "",
        err: `${deployment.deployment_id}: it runs on the sandbox "yard", which isn't known here: nothing was removed, and its record stays\n  known are local, process, swamp, lawn\n  Next: bring back what has it (agent-env plugin list; [sandbox.providers.yard]), then agent-env env stop ${deployment.deployment_id}\n`,
      });
      expect(await recorded(cli)).toEqual(["seasoned on yard: stopped", "seasoned on yard: up"]);
    } finally {
      renameSync(`${plugin}-away`, plugin);
    }
    expect(await cli.run("env", "stop", deployment.deployment_id)).toMatchObject({ exitCode: 0 });
    expect(await recorded(cli)).toEqual(["seasoned on yard: stopped", "seasoned on yard: stopped"]);
    await expectNothingLeft();
  });

  test("B12 gc removes what a killed run left there, and says what is out of its reach", { timeout: MANY_COMMANDS_MS }, async () => {
    const run = cli.start("run", "bundle", "--task", "tend", "--sandbox", "yard", "--keep");
    await run.seen("Everything stays up");
    run.child.kill("SIGKILL");
    await run.ended;
    const [id = ""] = yardFolders();

    renameSync(plugin, `${plugin}-away`);
    try {
      const { exitCode, out } = await cli.run("gc");
      expect(exitCode).toBe(1);
      expect(out.replace(/run-\S+/, "<run>")).toBe(
        `out of reach: ${id} on yard: its run <run> has ended; it isn't known here; known are local, process, swamp, lawn\nnothing is left over\n`,
      );
      expect(await recorded(cli)).toEqual(["seasoned on yard: up"]);
    } finally {
      renameSync(`${plugin}-away`, plugin);
    }
    expect(await cli.run("gc")).toMatchObject({ exitCode: 0, out: expect.stringMatching(/removed 2 of 2\n$/) });
    expect(await recorded(cli)).toEqual(["seasoned on yard: stopped"]);
    await expectNothingLeft();
  });

  test("doctor says what each needs, and is exit code 2 when the configured one can't work", async () => {
    const lines = async (...argv: string[]): Promise<{ exitCode: number | null; sandboxes: string[] }> => {
      const { exitCode, out } = await cli.run("doctor", ...argv);
      return { exitCode, sandboxes: out.split("\n").filter((line) => line.includes("yard") || line.includes("swamp")) };
    };
    expect(await lines()).toEqual({
      exitCode: 0,
      sandboxes: [
        "ok        sandbox yard: processes in a yard; isolates nothing",
        "ok        sandbox swamp: processes in a yard of mud; isolates nothing",
      ],
    });
    using config = temporaryFolder({ "config.toml": '[sandbox]\ndefault = "yard"\n[sandbox.providers.swamp]\ntype = "yarrd"\n' });
    const closed = agentEnv({ ...NO_DOCKER, YARD_CLOSED: "1", AGENT_ENV_CONFIG: join(config.path, "config.toml") }, project.path);
    const { exitCode, out } = await closed.run("doctor", "--json");
    closed.remove();
    const findings = JSON.parse(out).findings.filter(({ name }: { name: string }) => /yard|swamp/.test(name));
    expect({ exitCode, findings }).toEqual({
      exitCode: 2,
      findings: [
        { name: "sandbox yard", ok: false, detail: "YARD_CLOSED is set", next: "unset it", required: true },
        {
          name: "sandbox swamp",
          ok: false,
          detail: `${config.path}/config.toml: [sandbox.providers.swamp]: type: there is no sandbox provider "yarrd" (probably "yard"): known are local, process, yard`,
          next: "correct it: agent-env doctor lists the providers",
          required: false,
        },
      ],
    });
  });

  test("B5 a name that nobody has is told with those there are, what is near, and why a plugin's isn't there", async () => {
    using other = temporaryFolder({
      ...projectOf("@acme/places", "lost"),
      ...PLACES,
      ...pluginPackage(
        "lost",
        { sandboxProviders: { moon: "moon.js", mars: "mars.js" } },
        { "moon.js": 'throw new Error("no fuel");\n', "mars.js": 'export default { capabilities: { name: "mars" }, open() {} };\n' },
      ),
      ...BUNDLE,
    });
    linkAgentEnv(other.path);
    const away = agentEnv(NO_DOCKER, other.path);
    const refused = async (sandbox: string): Promise<string> =>
      (await away.run("run", "bundle", "--task", "tend", "--dry-run", "--sandbox", sandbox)).err.split("\n").slice(2).join("\n");
    expect(await refused("yrad")).toBe(
      '--sandbox: "yrad" is not known (probably "yard")\n  it takes auto, local, process, yard\n  Next: agent-env doctor says what each needs here\n',
    );
    expect(await refused("yard, moon")).toBe(
      '--sandbox: "moon" is not known\n  it takes auto, local, process, yard; the plugin "lost" has one, and failed to load: no fuel\n  Next: agent-env doctor says what each needs here\n',
    );
    writeTree(other.path, { "bundle/tasks/tend.json": steps("garden").replace('"deploy_env"', '"deploy_env", "sandbox_type": "mars"') });
    const { err } = await away.run("run", "bundle", "--task", "tend", "--dry-run");
    expect(err).toContain(
      "tasks/tend.json: step 'deploy': sandbox_type \"mars\" is not known; those there are: local, process, yard; the plugin \"lost\" has one, which can't be used: its capabilities isn't { name, runs, image, websites, gateways, longestTtlSeconds, isolates, limits }, its unavailable isn't a function, its imageProblems isn't a function, its labelled isn't a function, its remove isn't a function\n",
    );
    away.remove();
  });
});
