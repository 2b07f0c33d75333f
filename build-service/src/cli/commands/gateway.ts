import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { UserError } from "@agent-env/protocol";
import { listens, settled } from "../../deploy/readiness.ts";
import { EDGE_PORT, noteEdge } from "../../run/edge-url.ts";
import { stateDirOf } from "../../run/state-dir.ts";
import { makeStateDir } from "../../store/local.ts";
import type { AddCommand } from "../cli.ts";
import type { CommonOptions, Io } from "../io.ts";
import { wholeNumberIn } from "../numbers.ts";
import { addGatewayToken } from "./gateway-token.ts";

/**
 * Keeps wrangler on this machine: without these it looks up hosts outside, and serves an explorer on the gateway's own port
 * that reads and changes every record.
 */
const WRANGLER_SETTINGS = {
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
  X_LOCAL_EXPLORER: "false",
  X_LOCAL_OBSERVABILITY: "false",
};

export const gatewayCommand: AddCommand = (parent, io, end) => {
  const gateway = parent.command("gateway").description("the edge gateway, which serves any number of deployments");
  gateway
    .command("dev")
    .description("serve the deployments of this machine's store from a Worker under wrangler dev")
    .option("--port <n>", "port on 127.0.0.1", wholeNumberIn(1, 65_535), EDGE_PORT)
    .action(async (options: CommonOptions & { port: number }) => end(await serve(options, io)));
  addGatewayToken(gateway, io);
};

/** One that starts bundles itself first. */
const START_BUDGET_S = 120;

/** Runs wrangler dev until it ends or this process is interrupted. Gives its exit code. */
async function serve({ port, json = false }: CommonOptions & { readonly port: number }, io: Io): Promise<number> {
  const config = wranglerConfig();
  const program = wranglerProgram(config);
  await refuseTaken(port);
  const stateDir = stateDirOf(io.env);
  makeStateDir(stateDir);
  const url = `http://localhost:${port}`;
  const forget = noteEdge(stateDir, url);
  try {
    const child = spawn(process.execPath, [program, "dev", "--config", config, "--persist-to", stateDir, "--port", String(port)], {
      // With --json standard output is ours: wrangler's own goes to standard error.
      stdio: ["inherit", json ? 2 : 1, 2],
      env: { ...process.env, ...WRANGLER_SETTINGS },
    });
    // A terminal sends its signals to the whole group; one that was sent to us alone is passed on.
    io.signal.addEventListener("abort", () => child.kill("SIGINT"));
    const ended = new AbortController();
    const exitCode = new Promise<number>((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", (code) => resolve(io.signal.aborted ? 0 : (code ?? 1)));
    }).finally(() => ended.abort());
    const [code] = await Promise.all([exitCode, json ? printAddress(url, ended.signal, io) : null]);
    return code;
  } finally {
    forget();
  }
}

/** Prints where the edge gateway is once it answers there; nothing if it ends before. */
async function printAddress(url: string, ended: AbortSignal, io: Io): Promise<void> {
  const probe = { name: "edge gateway", budgetSeconds: START_BUDGET_S, attempt: listens(url) };
  try {
    const { ok, reason } = await settled(probe, ended);
    if (ok) io.out.write(`${JSON.stringify({ format_version: 1, url })}\n`);
    else io.err.write(`${url}: no answer within ${START_BUDGET_S} s: ${reason}\n`);
  } catch (error) {
    if (!ended.aborted) throw error;
  }
}

/** The nearest `wrangler.toml` above this program: the checkout's. */
function wranglerConfig(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const config = join(folder, "wrangler.toml");
    if (existsSync(config)) return config;
    if (folder === dirname(folder)) {
      throw new UserError({
        what: "gateway dev: there is no wrangler.toml above this program",
        why: "the edge gateway is served from a checkout of agent-env",
        next: "run npm run dev in one",
        exitCode: 2,
      });
    }
  }
}

function wranglerProgram(config: string): string {
  const require = createRequire(config);
  try {
    return join(dirname(require.resolve("wrangler/package.json")), "bin", "wrangler.js");
  } catch (error) {
    throw new UserError(
      { what: "gateway dev: wrangler isn't installed here", why: `looked for it from ${config}`, next: "npm ci", exitCode: 2 },
      { cause: error },
    );
  }
}

/** wrangler takes another port when its own is taken, and nobody would find it there. */
async function refuseTaken(port: number): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once("error", (error) =>
      reject(
        new UserError(
          { what: `--port ${port}: can't listen on 127.0.0.1:${port}`, why: error.message, next: "give another with --port", exitCode: 2 },
          { cause: error },
        ),
      ),
    );
    probe.listen({ port, host: "127.0.0.1" }, () => probe.close(() => resolve()));
  });
}
