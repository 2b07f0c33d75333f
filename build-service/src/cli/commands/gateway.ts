import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { UserError } from "@agent-env/protocol";
import { listens, settled } from "../../deploy/readiness.ts";
import { WRANGLER_SETTINGS, wranglerConfig, wranglerProgram } from "../../infra/wrangler.ts";
import { EDGE_PORT, noteEdge } from "../../run/edge-url.ts";
import { stateDirOf } from "../../run/state-dir.ts";
import { makeStateDir } from "../../store/local.ts";
import type { AddCommand } from "../cli.ts";
import type { CommonOptions, Io } from "../io.ts";
import { wholeNumberIn } from "../numbers.ts";
import { addGatewayDeploy } from "./gateway-deploy.ts";
import { addGatewayToken } from "./gateway-token.ts";

export const gatewayCommand: AddCommand = (parent, io, end) => {
  const gateway = parent.command("gateway").description("the edge gateway, which serves any number of deployments");
  gateway
    .command("dev")
    .description("serve the deployments of this machine's store from a Worker under wrangler dev")
    .option("--port <n>", "port on 127.0.0.1", wholeNumberIn(1, 65_535), EDGE_PORT)
    .action(async (options: CommonOptions & { port: number }) => end(await serve(options, io)));
  addGatewayDeploy(gateway, io, end);
  addGatewayToken(gateway, io);
};

/** One that starts bundles itself first. */
const START_BUDGET_S = 120;

/** Runs wrangler dev until it ends or this process is interrupted. Gives its exit code. */
async function serve({ port, json = false }: CommonOptions & { readonly port: number }, io: Io): Promise<number> {
  const config = wranglerConfig("gateway dev");
  const program = wranglerProgram("gateway dev", config);
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
