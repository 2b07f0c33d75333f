import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const PAGE = fileURLToPath(new URL("../../docs/write-an-environment.md", import.meta.url));
const CLI = fileURLToPath(new URL("../../build-service/bin/agent-env.js", import.meta.url));

/** A file that the page tells to write: its path on a line of its own, then its text. */
const FILE = /^`([^`\n]+)`\n\n```\w+\n([\s\S]*?)^```$/gm;
const COMMANDS = /^```sh\n([\s\S]*?)^```$/gm;

test("docs/write-an-environment.md: its files are a bundle, and its commands pass", async () => {
  const page = await readFile(PAGE, "utf8");
  const bundle = await temporaryFolder("todo");
  for (const [, path = "", text = ""] of page.matchAll(FILE)) {
    await mkdir(dirname(join(bundle, path)), { recursive: true });
    await writeFile(join(bundle, path), text);
  }

  const home = await temporaryFolder("home");
  const env = { PATH: process.env["PATH"], HOME: home, AGENT_ENV_STATE_DIR: join(home, "state") };
  const commands = [...page.matchAll(COMMANDS)].flatMap(([, text = ""]) => text.trim().split("\n"));
  expect(commands).toHaveLength(2);
  for (const command of commands) {
    const [npx, name, ...args] = command.split(" ");
    expect([npx, name]).toEqual(["npx", "agent-env"]);
    await promisify(execFile)(process.execPath, [CLI, ...args], { cwd: bundle, env });
  }
});

async function temporaryFolder(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `agent-env-${name}-`));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
