import { cpSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type AgentEnv, agentEnv, NO_DOCKER, type Started } from "../../fixtures/agent-env.ts";
import { temporaryFolder } from "../../fixtures/folder.ts";
import { processesOf } from "../../fixtures/processes-of.ts";
import { until } from "../../fixtures/until.ts";

const HELLO = fileURLToPath(new URL("../../../examples/hello", import.meta.url));
const FAILED = /^tasks\/greet\.json: failed, /m;

/** A task that seeds the greeter, which holds no data. */
function failingBundle(folder: string): void {
  for (const name of ["greeter", "guestbook"]) cpSync(join(HELLO, "envs", name), join(folder, "envs", name), { recursive: true });
  for (const part of ["artifacts/greetings", "tasks"]) mkdirSync(join(folder, part), { recursive: true });
  writeFileSync(join(folder, "artifacts/greetings/artifact.toml"), 'type = "environment"\nenvironment_name = "greeter"\n');
  writeFileSync(join(folder, "artifacts/greetings/seed.json"), "{}\n");
  const steps = [
    { id: "deploy", type: "deploy_env", env_id: "greeter" },
    { id: "seed", type: "load_artifact", artifact_id: "greetings", env_id: "greeter" },
  ];
  writeFileSync(join(folder, "tasks/greet.json"), JSON.stringify(steps));
}

const folder = temporaryFolder();
let cli: AgentEnv;
beforeAll(() => {
  failingBundle(folder.path);
  cli = agentEnv(NO_DOCKER, folder.path);
});
afterEach(async () => {
  // Of a test that failed on its way.
  for (const { child, ended } of started.splice(0)) {
    child.kill("SIGKILL");
    await ended;
  }
});
afterAll(async () => {
  await cli.run("gc");
  cli.remove();
  folder[Symbol.dispose]();
});

const started: Started[] = [];
function start(...argv: readonly string[]): Started {
  const run = cli.start("run", ".", "--sandbox", "process", "--keep", ...argv);
  started.push(run);
  return run;
}

describe("B12 a run that is kept up", () => {
  test("says how its tasks ended before it waits, and ends with its terminal: nothing is left", async () => {
    const run = start();
    await run.seen("Everything stays up until Ctrl-C.");
    const { out } = run.soFar();
    expect(out).toMatch(FAILED);
    expect(out.indexOf("tasks/greet.json: failed, ")).toBeLessThan(out.indexOf("  MCP"));

    // Nobody reads what it says from now on, as with a terminal that was closed.
    run.child.stdout?.destroy();
    run.child.stderr?.destroy();
    run.child.kill("SIGHUP");
    expect(await run.ended).toMatchObject({ exitCode: 129, signal: null });
    await until("every process has ended", 5_000, async () => (await processesOf(cli.stateDir)).length === 0);
  });

  test("with --json says so in a line that holds the addresses, and in nothing else", async () => {
    const run = start("--json");
    await run.seen('"kind":"kept"');
    run.child.kill("SIGINT");
    const { out, exitCode } = await run.ended;
    const lines: unknown[] = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(exitCode).toBe(1);
    expect(lines.find((line) => typeof line === "object" && line !== null && "kind" in line && line.kind === "kept")).toEqual({
      at: expect.any(String),
      kind: "kept",
      tasks: [
        expect.objectContaining({
          path: "tasks/greet.json",
          outcome: "failed",
          failed_steps: [
            {
              step_id: "seed",
              error: expect.stringMatching(/\/greetings \(seed\.json\): "greeter" holds no data, and so takes no seed$/),
              why: expect.stringMatching(
                /^http:\S+\/agentenv: data\/reset was answered with an error: method not found: data\/reset \(-32601\)$/,
              ),
              next: "leave it out, or give the env data: its server answers data/reset and data/add",
            },
          ],
        }),
      ],
      deployments: [
        {
          env_id: expect.stringMatching(/\/greeter$/),
          deployment_id: expect.stringMatching(/^greeter-/),
          mcp_url: expect.stringMatching(/^http:.*\/mcp$/),
          website_frontend_urls: {},
          expires_at_utc: expect.any(String),
        },
      ],
    });
  });

  test("N8 leaves nothing that gc doesn't remove when it is killed, its private key among it", async () => {
    const run = start();
    await run.seen("Everything stays up until Ctrl-C.");
    run.child.kill("SIGKILL");
    await run.ended;
    const keys = (): string[] => readdirSync(join(cli.stateDir, "keys"));
    const [key = ""] = keys();
    expect(key).toMatch(/^greeter-.*\.json$/);
    const { out } = await cli.run("gc", "--dry-run");
    expect(out).toMatch(new RegExp(`^key ${key.replace(".json", "")}: its run \\S+ has ended$`, "m"));
    expect(keys()).toEqual([key]);
    expect(await cli.run("gc")).toMatchObject({ exitCode: 0 });
    expect(keys()).toEqual([]);
    expect(await cli.run("gc")).toMatchObject({ exitCode: 0, out: "nothing is left over\n" });
  });
});
