import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { gzipSync } from "node:zlib";
import { UserError } from "@agent-env/protocol";

/** Without these it sends figures of its use, and its own errors, and prints of itself. */
const WRANGLER_SETTINGS = { WRANGLER_SEND_METRICS: "false", WRANGLER_SEND_ERROR_REPORTS: "false", WRANGLER_HIDE_BANNER: "true" };

export type Bundle = { readonly bytes: number; readonly gzipBytes: number };
export type WranglerRun = {
  /** The command that needs it. */
  readonly command: string;
  readonly program: string;
  readonly document: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Never shown, whatever wrangler prints. */
  readonly apiToken: string | null;
  readonly signal: AbortSignal;
};

/** The modules of the Worker by their names, as a deploy would upload them. */
export function workerModules(run: WranglerRun): Promise<ReadonlyMap<string, Buffer>> {
  return inFolder(async (folder) => {
    const out = join(folder, "out");
    await runWrangler(run, folder, ["--dry-run", "--outdir", out]);
    const names = readdirSync(out).filter((name) => /\.(js|mjs|wasm)$/.test(name));
    return new Map(names.map((name) => [name, readFileSync(join(out, name))]));
  });
}

/** How large the Worker is. */
export function sizeOf(modules: ReadonlyMap<string, Buffer>): Bundle {
  const whole = Buffer.concat([...modules.values()]);
  return { bytes: whole.length, gzipBytes: gzipSync(whole).length };
}

/** Uploads the Worker and its routes. */
export function uploadWorker(run: WranglerRun): Promise<void> {
  return inFolder((folder) => runWrangler(run, folder, []));
}

/** wrangler writes beside its configuration: into a folder that is gone afterwards. */
async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "agent-env-wrangler-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runWrangler(
  { command, program, document, env, apiToken, signal }: WranglerRun,
  folder: string,
  args: readonly string[],
): Promise<void> {
  const config = join(folder, "wrangler.json");
  writeFileSync(config, JSON.stringify(document));
  const child = spawn(process.execPath, [program, "deploy", "--config", config, ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...env,
      ...WRANGLER_SETTINGS,
      // asks nothing: there is nobody to answer
      CI: "1",
      WRANGLER_LOG_PATH: join(folder, "logs"),
      ...(apiToken === null ? {} : { CLOUDFLARE_API_TOKEN: apiToken }),
    },
  });
  const stop = (): void => void child.kill("SIGINT");
  signal.addEventListener("abort", stop);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-20_000);
    });
  }
  try {
    const code = await new Promise<number | null>((resolve, reject) => child.once("error", reject).once("close", resolve));
    signal.throwIfAborted();
    if (code !== 0) throw failed(command, said, apiToken);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function failed(command: string, said: string, apiToken: string | null): UserError {
  const shown = apiToken === null || apiToken === "" ? said : said.replaceAll(apiToken, "…");
  const lines = stripVTControlCharacters(shown)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("🪵") && !line.includes("please create an issue"));
  return new UserError({
    what: `${command}: wrangler did not get through`,
    why: lines.slice(-12).join("\n") || "it said nothing",
    next: "mend what it says, and run the command again: nothing of the deployments is lost by a second time",
  });
}

/** The nearest `wrangler.toml` above this program: the checkout's. `command` is what messages are about. */
export function wranglerConfig(command: string): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const config = join(folder, "wrangler.toml");
    if (existsSync(config)) return config;
    if (folder === dirname(folder)) {
      throw new UserError({
        what: `${command}: there is no wrangler.toml above this program`,
        why: "the edge gateway is served from a checkout of agent-env",
        next: "run the command in one",
        exitCode: 2,
      });
    }
  }
}

/** wrangler's program, as it is installed beside its configuration. */
export function wranglerProgram(command: string, config: string): string {
  const require = createRequire(config);
  try {
    return join(dirname(require.resolve("wrangler/package.json")), "bin", "wrangler.js");
  } catch (error) {
    throw new UserError(
      { what: `${command}: wrangler isn't installed here`, why: `looked for it from ${config}`, next: "npm ci", exitCode: 2 },
      { cause: error },
    );
  }
}
