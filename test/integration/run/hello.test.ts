import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentEnv, agentEnv, type Ended, NO_DOCKER } from "../../fixtures/agent-env.ts";
import { processesOf } from "../../fixtures/processes-of.ts";
import { until } from "../../fixtures/until.ts";

/** What of a deployment could be left on disk. */
function deploymentFolders(stateDir: string): string[] {
  const folder = join(stateDir, "deployments");
  return existsSync(folder) ? readdirSync(folder) : [];
}

describe("agent-env run hello, without Docker", () => {
  let cli: AgentEnv;
  let first: Ended;
  beforeAll(async () => {
    cli = agentEnv(NO_DOCKER);
    first = await cli.run("run", "hello", "--sandbox", "process");
  });
  afterAll(() => cli.remove());

  test("P3 passes on a machine that has nothing but Node", () => {
    expect(first).toMatchObject({ exitCode: 0, err: "" });
    expect(first.out).toContain("tasks/sign.json: passed (verify 1)");
    expect(first.out).toContain("sandbox process isolates nothing");
  });

  test("P3 says which calls its verifier made, through /mcp and /website", () => {
    expect(first.out).toMatch(/verify: tools\/call greeter_greet /);
    expect(first.out).toMatch(/verify: GET \/website\/guestbook\/ /);
  });

  test("ends by saying what to try next", () => {
    expect(first.out.slice(first.out.indexOf("Next:"))).toContain("npx agent-env run examples/suite");
  });

  test("B12 leaves no process and no folder behind", async () => {
    expect(deploymentFolders(cli.stateDir)).toEqual([]);
    await until("every process has ended", 5_000, async () => (await processesOf(cli.stateDir)).length === 0);
  });

  test("B8.1 a second run writes nothing, and says so for each entry", async () => {
    const second = await cli.run("run", "hello", "--sandbox", "process", "--json");
    const events = second.out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const writes = events.filter(({ kind }) => kind === "write");
    expect(writes.length).toBeGreaterThan(5);
    expect(writes.filter(({ reasons }) => reasons.length > 0)).toEqual([]);
    expect(events.at(-1)).toMatchObject({
      kind: "result",
      format_version: 1,
      exit_code: 0,
      tasks: [{ outcome: "passed", scores: { verify: 1 }, left_up: [] }],
    });
  });

  test("B8.3 a dry run right after shows everything unchanged", async () => {
    const { out, exitCode } = await cli.run("run", "hello", "--sandbox", "process", "--dry-run");
    expect(exitCode).toBe(0);
    expect(out.split("\n").filter((line) => /: v\d/.test(line) && !line.startsWith(" ") && !line.endsWith(", unchanged"))).toEqual([]);
    expect(out).toMatch(/^Dry run: nothing is written or run\.$/m);
  });

  test("N8 gc finds nothing left over", async () => {
    expect(await cli.run("gc", "--dry-run")).toMatchObject({ exitCode: 0, out: "nothing is left over\n" });
  });
});

test("auto takes the process sandbox where no Engine answers, and says why", async () => {
  const cli = agentEnv(NO_DOCKER);
  const { out, exitCode } = await cli.run("bundle", "plan", "examples/hello");
  expect(exitCode).toBe(0);
  expect(out).toContain("sandbox process: no Docker Engine answers: nothing listens at unix:///nonexistent/docker.sock");
  expect(existsSync(cli.stateDir)).toBe(false);
  cli.remove();
});

test("local without an Engine is refused once for the whole run, and nothing was written", async () => {
  const cli = agentEnv(NO_DOCKER);
  const { err, exitCode } = await cli.run("run", "examples/suite", "--sandbox", "local");
  expect(exitCode).toBe(1);
  expect(err).toContain("no Docker Engine answers");
  expect(err).toMatch(/1 problem; nothing was built, written or started\n$/);
  expect(existsSync(cli.stateDir)).toBe(false);
  cli.remove();
});

describe("a deployment that stays", () => {
  test("P4 is listed, shown and stopped by its id", async () => {
    const cli = agentEnv(NO_DOCKER);
    await cli.run("run", "hello", "--sandbox", "process");
    const up = await cli.run("env", "deploy", "--id", "@local/agent-env/hello/greeter", "--sandbox", "process", "--json");
    expect(up).toMatchObject({ exitCode: 0, err: "" });
    const { deployment } = JSON.parse(up.out);
    expect(deployment).toMatchObject({ status: "up", owner: null, env_id: "@local/agent-env/hello/greeter", sandbox_type: "process" });

    expect((await cli.run("env", "list")).out).toContain(deployment.deployment_id);
    const shown = JSON.parse((await cli.run("env", "get-instance", "--id", deployment.instance_id, "--json")).out);
    expect(shown.deployment.mcp_url).toBe(deployment.mcp_url);
    const card = await fetch(deployment.environment_card_url);
    expect(card.status).toBe(200);

    expect(await cli.run("env", "stop", deployment.deployment_id)).toMatchObject({ exitCode: 0 });
    expect((await cli.run("env", "list")).out).toBe("no deployment is up\n");
    expect(await cli.run("env", "stop", deployment.deployment_id)).toMatchObject({ exitCode: 0 });
    await until("every process has ended", 5_000, async () => (await processesOf(cli.stateDir)).length === 0);
    cli.remove();
  });
});
