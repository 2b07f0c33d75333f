import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { onTestFinished } from "vitest";

/** Packages that a site without tools must not need. */
export const MCP_PACKAGES = ["@modelcontextprotocol/sdk", "@cfworker/json-schema"];

/** A folder as an image has it: the SDK bundled from `entry` under `node_modules`, and the given files in `app`. */
export async function imageFolder(entry: "index" | "bundle", files: Record<string, string>, external: string[] = []): Promise<string> {
  const folder = await temporaryFolder();
  const sdk = join(folder, "node_modules/@agent-env/sdk");
  await build({
    entryPoints: [fileURLToPath(new URL(`../${entry}.ts`, import.meta.url))],
    outfile: join(sdk, "index.js"),
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node22",
    external,
  });
  await put(join(sdk, "package.json"), JSON.stringify({ name: "@agent-env/sdk", type: "module", exports: "./index.js" }));
  for (const [path, text] of Object.entries(files)) await put(join(folder, "app", path), text);
  return join(folder, "app");
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "agent-env-sdk-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

export type Program = { readonly child: ChildProcess; output(): string; readonly exit: Promise<number | null> };

/** Runs a program with this Node until the test ends. Its environment holds nothing but `env` and PATH. */
export function program(file: string, cwd: string, env: Record<string, string>): Program {
  const child = spawn(process.execPath, [file], { cwd, env: { PATH: process.env["PATH"], ...env } });
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (output += chunk));
  const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
  onTestFinished(() => {
    child.kill("SIGKILL");
    return exit.then(() => undefined);
  });
  return { child, output: () => output, exit };
}

/** The match of `pattern` in what the program says. Fails with all it said when it ends, or says nothing for ten seconds. */
export async function said({ child, output, exit }: Program, pattern: RegExp): Promise<RegExpExecArray> {
  const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
  const look = () => {
    const match = pattern.exec(output());
    if (match !== null) resolve(match);
  };
  const fail = (reason: string) => reject(new Error(`${reason} before ${pattern}:\n${output()}`));
  const budget = setTimeout(() => fail("ten seconds passed"), 10_000);
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", look);
  void exit.then(() => {
    look();
    fail("it ended");
  });
  look();
  return await promise.finally(() => clearTimeout(budget));
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
