import { expect, test } from "vitest";
import { agentEnv, NO_DOCKER } from "../../fixtures/agent-env.ts";
import { temporaryFolder } from "../../fixtures/folder.ts";

const TREE = {
  "tasks/a.json": "[]",
  "tasks/b.json": "[]",
  "tasks/c.json": "[]",
  "evals/e.toml": 'tasks = ["c"]\n',
};

test("a run says which tasks it leaves out, unless it was told which to run", async () => {
  using bundle = temporaryFolder(TREE);
  const cli = agentEnv(NO_DOCKER);
  const all = await cli.run("run", bundle.path, "--sandbox", "process");
  const named = await cli.run("run", bundle.path, "--sandbox", "process", "--task", "a");
  cli.remove();
  expect(all.exitCode).toBe(0);
  expect(all.out).toContain("not selected: tasks/a.json, tasks/b.json (no eval names them; --task runs them)\n");
  expect(named).toMatchObject({ exitCode: 0, out: expect.not.stringContaining("not selected") });
});
