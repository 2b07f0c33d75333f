import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentEnv, NO_DOCKER } from "../../fixtures/agent-env.ts";
import { docPage } from "../../fixtures/doc-page.ts";
import { temporaryFolder } from "../../fixtures/folder.ts";
import { linkAgentEnv } from "../../fixtures/plugins.ts";

test("P4 docs/plugins.md: its files are a project with a plugin, and its commands pass", async () => {
  const { files, commands } = docPage("plugins.md");
  using project = temporaryFolder(files);
  // As `npm install` links them.
  mkdirSync(join(project.path, "node_modules"));
  symlinkSync(join(project.path, "seasons"), join(project.path, "node_modules/seasons"));
  linkAgentEnv(project.path);
  const cli = agentEnv(NO_DOCKER, project.path);
  const said: string[] = [];
  for (const command of commands) {
    const { exitCode, out, err } = await cli.run(...command);
    expect({ command, exitCode, err }, out).toEqual({ command, exitCode: 0, err: "" });
    said.push(out);
  }
  cli.remove();
  const [checked, season, ran = ""] = said;
  expect([checked, season]).toEqual(["seasons: all of it is in effect\n", "spring\n"]);
  expect(ran).toContain("sandbox single,process: asked for\n");
  expect(ran).toContain("tasks/look.json: passed (verify 1)");
  expect(ran).not.toContain("so process is tried");
});
