import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentEnv, agentEnv, NO_DOCKER } from "../../fixtures/agent-env.ts";
import { temporaryFolder } from "../../fixtures/folder.ts";
import { linkAgentEnv, pluginPackage, projectOf, ROBOTS } from "../../fixtures/plugins.ts";

const HELLO = join(import.meta.dirname, "../../../examples/hello");
const VERIFIER = `
export async function verify(_mcpUrl, { listTools }) {
  return [{ result: (await listTools()).some(({ name }) => name === "greeter_greet"), description: "the robot's tools are listed" }];
}
`;
const TASK = [
  { id: "deploy", type: "deploy_env", env_id: "greeter" },
  { id: "wave", type: "wave", times: 2 },
  { id: "verify", type: "env_outcome_verifier", env_id: "greeter", file_artifact_id: "check" },
];

describe("a plugin's bundle, with another plugin's env type and step", () => {
  const project = temporaryFolder({
    ...projectOf("@acme/greetings", "@acme/robots"),
    ...ROBOTS,
    ...pluginPackage(
      "@acme/greetings",
      { bundles: { greetings: "bundles/greetings" } },
      {
        "bundles/greetings/envs/greeter/env.toml": 'type = "robot"\n',
        "bundles/greetings/artifacts/check/check.mjs": VERIFIER,
        "bundles/greetings/tasks/greet.json": JSON.stringify(TASK),
      },
    ),
  });
  const bundle = join(project.path, "node_modules/@acme/greetings/bundles/greetings");
  let cli: AgentEnv;
  beforeAll(() => {
    linkAgentEnv(project.path);
    const env = join(bundle, "envs/greeter");
    cpSync(join(HELLO, "envs/greeter/server.ts"), join(env, "server.ts"));
    writeFileSync(join(env, "Dockerfile.arm"), readFileSync(join(HELLO, "envs/greeter/Dockerfile")));
    cli = agentEnv(NO_DOCKER, project.path);
  });
  afterAll(() => {
    cli.remove();
    project[Symbol.dispose]();
  });

  test("B1.1 B7 plugin check reads it, with no store and no Docker", async () => {
    expect(await cli.run("plugin", "check")).toMatchObject({ exitCode: 0, err: "" });
  });

  test("B1.1 runs by its name: the env is deployed like the MCP server that it is, and named by its card", async () => {
    const { exitCode, out, err } = await cli.run("run", "greetings", "--sandbox", "process");
    expect({ exitCode, err }, out).toEqual({ exitCode: 0, err: "" });
    expect(out).toContain("waved 2");
    expect(out).toContain("tasks/greet.json: passed (verify 1)");
  });

  test("is known by the package that brings it, wherever that is installed", async () => {
    const { out } = await cli.run("run", "@acme/greetings/greetings", "--dry-run", "--sandbox", "process", "--json");
    const result = JSON.parse(out.trimEnd().split("\n").at(-1) ?? "");
    expect(result).toMatchObject({ kind: "result", bundle: "@local/@acme/greetings/greetings" });
    expect(out.split("\n").filter((line) => line.includes('"kind":"plan"') && !line.includes('"unchanged"'))).toEqual([]);
  });

  test("a folder of that name wins, and the message says so", async () => {
    cpSync(bundle, join(project.path, "greetings"), { recursive: true });
    const { out } = await cli.run("run", "greetings", "--dry-run", "--sandbox", "process");
    expect(out).toContain("greetings: the folder here, not the installed bundle of that name");
  });
});
