import { afterAll, beforeAll, expect, test } from "vitest";
import { type AgentEnv, agentEnv, type Ended } from "../fixtures/agent-env.ts";

let cli: AgentEnv;
let run: Ended;
beforeAll(async () => {
  cli = agentEnv();
  run = await cli.run("run", "examples/python-board");
});
afterAll(() => cli.remove());

test("W1.1 W3.1 a site with tools written in Python with the original's SDK runs behind our gateway, and its verifier passes", () => {
  expect(run.exitCode, run.out + run.err).toBe(0);
  expect(run.out).toContain("tasks/board.json: passed (verify 1)");
});

test("B3.2 its name is the one on the card in its Python source", async () => {
  const deployed = await cli.run("env", "list", "--all", "--json");
  const [deployment] = JSON.parse(deployed.out).deployments;
  expect(deployment.environment_card.children_environments.map(({ name }: { name: string }) => name)).toEqual(["board"]);
});
