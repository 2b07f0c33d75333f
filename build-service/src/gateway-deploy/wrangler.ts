import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { gzipSync } from "node:zlib";
import { UserError } from "@agent-env/protocol";
import { WRANGLER_SETTINGS } from "../infra/wrangler.ts";

export type Bundle = { readonly bytes: number; readonly gzipBytes: number };
export type WranglerRun = {
  readonly program: string;
  readonly document: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Never shown, whatever wrangler prints. */
  readonly apiToken: string | null;
  readonly signal: AbortSignal;
};

/** Bundles as for a deploy, and sends nothing. */
export function bundleWorker(run: WranglerRun): Promise<Bundle> {
  return inFolder(async (folder) => {
    await runWrangler(run, folder, ["--dry-run", "--outdir", join(folder, "out")]);
    const code = readdirSync(join(folder, "out"))
      .filter((name) => /\.(js|mjs|wasm)$/.test(name))
      .map((name) => readFileSync(join(folder, "out", name)));
    const whole = Buffer.concat(code);
    return { bytes: whole.length, gzipBytes: gzipSync(whole).length };
  });
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
  { program, document, env, apiToken, signal }: WranglerRun,
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
    if (code !== 0) throw failed(said, apiToken);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function failed(said: string, apiToken: string | null): UserError {
  const shown = apiToken === null || apiToken === "" ? said : said.replaceAll(apiToken, "…");
  const lines = stripVTControlCharacters(shown)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("🪵") && !line.includes("please create an issue"));
  return new UserError({
    what: "gateway deploy: wrangler did not get through",
    why: lines.slice(-12).join("\n") || "it said nothing",
    next: "mend what it says, and run the command again: nothing of the deployments is lost by a second time",
  });
}
