import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gatewayBundle } from "../../build-service/src/infra/gateway-bundle.ts";
import { newSigner } from "../../test/fixtures/gateway/tokens.ts";
import { until } from "../../test/fixtures/until.ts";
import { paused } from "./paused.ts";
import { type Program, startProgram } from "./program.ts";

const DEPLOYMENT = "bench-00000000";
const ROLE = "agent";
/** The least of a gateway's life: the preset of an agent, and the raw APIs. */
const SCOPE = "tools sites svc";

export type NodeGateway = Program & {
  readonly base: string;
  readonly token: string;
  /** How many calls are recorded with their results. */
  recordedCalls(): Promise<number>;
  /** The longest pause of its event loop since this was last asked. */
  longestPauseMs(): Promise<number>;
};

/**
 * The Node host as the product bundles it, with everything on: callers have tokens, roles have rules, sessions are sealed, and
 * calls are recorded in a file.
 */
export async function startNodeGateway(folder: string, at: { port: number; echoPort: number; originPort: number }): Promise<NodeGateway> {
  const signer = await newSigner();
  const base = `http://127.0.0.1:${at.port}`;
  const origin = `http://127.0.0.1:${at.originPort}`;
  const record = {
    deployment_id: DEPLOYMENT,
    name: "bench",
    auth: { mode: "token", keys: [signer.jwk] },
    servers: [
      { name: "echo", kind: "mcp", url: `http://127.0.0.1:${at.echoPort}` },
      { name: "shop", kind: "website", url: origin, frontend_url: origin, label: "shop--bench" },
    ],
  };
  const file = join(folder, "gateway.mjs");
  const pauses = paused(folder, "gateway");
  writeFileSync(file, await gatewayBundle());
  const program = await startProgram({
    name: "gateway",
    folder,
    argv: [process.execPath, ...pauses.options, file],
    readyUrl: `${base}/health`,
    env: {
      GATEWAY_RECORD: JSON.stringify(record),
      GATEWAY_STATE_FILE: join(folder, "gateway.sqlite"),
      MCP_HOST: "127.0.0.1",
      MCP_PORT: String(at.port),
      ...pauses.env,
    },
  });
  await until("the gateway is ready", 30_000, async () => (await fetch(`${base}/health`)).ok);
  const control = await signer.sign({ aud: DEPLOYMENT, role: "default", scope: "control read" });
  await limitRole(base, control);
  return {
    ...program,
    base,
    token: await signer.sign({ aud: DEPLOYMENT, role: ROLE, scope: SCOPE }),
    recordedCalls: () => recordedCalls(base, control),
    longestPauseMs: () => pauses.longestMs(program.pid),
  };
}

/** The address of its site on a host of the site's own. */
export const SITE_HOST = "shop--bench.localhost";

/** One tool is not for the role that calls. */
async function limitRole(base: string, control: string): Promise<void> {
  const headers = { authorization: `Bearer ${control}`, "content-type": "application/json" };
  const body = JSON.stringify({ role: ROLE, tools: ["secret"] });
  const answer = await fetch(`${base}/tools/disable`, { method: "POST", headers, body });
  if (!answer.ok) throw new Error(`${base}/tools/disable: ${answer.status} ${await answer.text()}`);
}

/** Counted in what `/trajectory` gives: results, each with the text of a call. */
async function recordedCalls(base: string, control: string): Promise<number> {
  const answer = await fetch(`${base}/trajectory`, { headers: { authorization: `Bearer ${control}` } });
  if (!answer.ok || answer.body === null) throw new Error(`${base}/trajectory: ${answer.status}`);
  const mark = '"event_type":"tool_call_result"';
  let count = 0;
  let rest = "";
  for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    count += lines.filter((line) => line.includes(mark)).length;
  }
  return count;
}
