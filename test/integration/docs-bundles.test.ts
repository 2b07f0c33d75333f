import { expect, test } from "vitest";
import { agentEnv } from "../fixtures/agent-env.ts";
import { docPage } from "../fixtures/doc-page.ts";
import { temporaryFolder } from "../fixtures/folder.ts";

test("docs/write-an-environment.md: its files are a bundle, and its commands pass", () => passes(docPage("write-an-environment.md")));

test("W1.1 docs/website-with-tools.md: its files are a bundle, and its commands pass", () => passes(docPage("website-with-tools.md")));

async function passes({ files, commands }: ReturnType<typeof docPage>): Promise<void> {
  using bundle = temporaryFolder(files);
  const cli = agentEnv({}, bundle.path);
  expect(commands).toHaveLength(2);
  for (const command of commands) {
    const { exitCode, out, err } = await cli.run(...command);
    expect({ command, exitCode }, `${out}${err}`).toEqual({ command, exitCode: 0 });
  }
  cli.remove();
}
