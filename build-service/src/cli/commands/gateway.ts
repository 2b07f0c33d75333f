import { once } from "node:events";
import { createServer } from "node:net";
import { UserError } from "@agent-env/protocol";
import { listens, settled } from "../../deploy/readiness.ts";
import { startEdge } from "../../edge/dev.ts";
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
    .description("serve the deployments of this machine's store from the Worker, in workerd")
    .option("--port <n>", "port on 127.0.0.1", wholeNumberIn(1, 65_535), EDGE_PORT)
    .action(async (options: CommonOptions & { port: number }) => end(await serve(options, io)));
  addGatewayDeploy(gateway, io, end);
  addGatewayToken(gateway, io);
};

/** The first request may wait for workerd to compile the Worker. */
const ANSWER_BUDGET_S = 60;

/** Serves until this process is interrupted. */
async function serve({ port, json = false }: CommonOptions & { readonly port: number }, io: Io): Promise<number> {
  await refuseTaken(port);
  const stateDir = stateDirOf(io.env);
  makeStateDir(stateDir);
  const url = `http://localhost:${port}`;
  const say = (line: string): void => void io.err.write(`${line}\n`);
  const stop = await startEdge({
    port,
    stateDir,
    env: io.env,
    signal: io.signal,
    onStep: (message) => say(`edge gateway: ${message}`),
    log: say,
  });
  await using ending = new AsyncDisposableStack();
  ending.defer(stop);
  ending.defer(noteEdge(stateDir, url));
  const probe = { name: "edge gateway", budgetSeconds: ANSWER_BUDGET_S, attempt: listens(url) };
  const { ok, reason } = await settled(probe, io.signal);
  if (!ok) throw new Error(`${url}: no answer within ${ANSWER_BUDGET_S} s: ${reason}`);
  const line = `edge gateway: ${url} serves the deployments in ${stateDir}, until Ctrl-C`;
  io.out.write(`${json ? JSON.stringify({ format_version: 1, url }) : line}\n`);
  if (!io.signal.aborted) await once(io.signal, "abort");
  return 0;
}

/** Said before anything is bundled. */
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
