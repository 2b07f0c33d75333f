import { expect, test } from "vitest";
import { agentEnv } from "../fixtures/agent-env.ts";
import { docPage } from "../fixtures/doc-page.ts";
import { temporaryFolder } from "../fixtures/folder.ts";

test("W1.1 docs/website-with-tools.md: its files are a bundle, and its commands pass", async () => {
  const { files, commands } = docPage("website-with-tools.md");
  using bundle = temporaryFolder(files);
  const cli = agentEnv({}, bundle.path);
  expect(commands).toHaveLength(2);
  for (const command of commands) {
    const { exitCode, out, err } = await cli.run(...command);
    expect({ command, exitCode }, `${out}${err}`).toEqual({ command, exitCode: 0 });
  }
  cli.remove();
});
