import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mustRun, run } from "../scripts/setup/command.ts";
import { thisMachine } from "../scripts/setup/machine.ts";

const PACKAGE = "agentenv-framework==0.9.1364";

/** A command of the Python original that has been tried, or why there is none to compare with. */
export type Original = { readonly argv: readonly string[] } | { readonly why: string };

/**
 * The original's command line, from PyPI in an environment of its own below the user's cache folder. Installing it takes some
 * minutes, once.
 */
export async function originalCommand(say: (line: string) => void): Promise<Original> {
  const folder = join(thisMachine().cacheFolder, "python", PACKAGE.replace("==", "-"));
  const python = join(folder, "bin", "python");
  // Not its script: that names the interpreter by the path at which it was installed.
  const argv = [python, "-c", "from agent_env.cli import cli; cli()"];
  try {
    if (!existsSync(python)) await install(folder, say);
    await mustRun(python, [...argv.slice(1), "--help"], { budgetSeconds: 60 });
    return { argv };
  } catch (error) {
    return { why: `${PACKAGE}: ${error instanceof Error ? error.message : String(error)}` };
  }
}

async function install(folder: string, say: (line: string) => void): Promise<void> {
  const unfinished = `${folder}.unfinished`;
  say(`installing ${PACKAGE} into ${folder}`);
  for (const stale of [unfinished, folder]) rmSync(stale, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  await mustRun("python3", ["-m", "venv", unfinished], { budgetSeconds: 120 });
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE];
  await mustRun(join(unfinished, "bin", "python"), pip, { budgetSeconds: 900 });
  renameSync(unfinished, folder);
}

/** Docker plugins that the original's dry run looks for, and doesn't use. */
const PLUGINS = ["compose", "buildx"];

/**
 * A home folder for the original where Docker seems to have the plugins that its dry run looks for. They are stand-ins, which
 * can build and start nothing.
 */
export function originalHome(home: string): NodeJS.ProcessEnv {
  const folder = join(home, ".docker", "cli-plugins");
  mkdirSync(folder, { recursive: true });
  const metadata = JSON.stringify({ SchemaVersion: "0.1.0", Vendor: "agent-env bench", Version: "2.30.0" });
  const script = `#!/bin/sh\n[ "$1" = docker-cli-plugin-metadata ] && echo '${metadata}' || echo 2.30.0\n`;
  for (const plugin of PLUGINS) writeFileSync(join(folder, `docker-${plugin}`), script, { mode: 0o755 });
  return { ...process.env, HOME: home };
}

/** Whether the original's command does this here: null when it does, else its own last words. */
export async function cannot(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<string | null> {
  const [program = "", ...args] = argv;
  const { code, stdout, stderr } = await run(program, args, { budgetSeconds: 300, env });
  if (code === 0) return null;
  return `${stdout}${stderr}`.trim().split("\n").slice(-2).join(" ").slice(0, 200);
}
