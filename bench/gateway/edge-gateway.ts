import { newSigner } from "../../test/fixtures/gateway/tokens.ts";
import { until } from "../../test/fixtures/until.ts";
import type { Target } from "./mcp-targets.ts";
import type { Place, Running } from "./place.ts";
import { startWorker } from "./workerd.ts";

const ROLE = "agent";
const START_BUDGET_MS = 60_000;

/** The Worker host in raw workerd, where every deployment that is asked for is one. */
export type EdgeGateway = Running & {
  /** Makes a deployment's object ready for calls, with a tool that its role may not use. */
  ready(deployment: string): Promise<void>;
  /** Where a deployment's calls go, as a target of loads. */
  target(deployment: string, name: string): Promise<Target>;
};

/** Starts the Worker host, with the tool behind each deployment. */
export async function startEdge(place: Place, name: string): Promise<EdgeGateway> {
  const signer = await newSigner();
  const record = {
    name: "bench",
    auth: { mode: "token", keys: [signer.jwk] },
    servers: [{ name: "echo", kind: "mcp", url: `http://127.0.0.1:${place.echo.port}` }],
  };
  const texts = { RECORD: JSON.stringify(record) };
  const program = await place.start((port) => startWorker({ name, entry: "edge-entry.js", folder: place.folder, port, texts }));
  const base = (deployment: string) => `http://127.0.0.1:${program.port}/d/${deployment}`;
  return {
    ...program,
    ready: async (deployment) => {
      await until(`${deployment} is ready`, START_BUDGET_MS, async () => (await fetch(`${base(deployment)}/health`)).ok);
      const token = await signer.sign({ aud: deployment, role: "default", scope: "control" });
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const body = JSON.stringify({ role: ROLE, tools: ["secret"] });
      const answer = await fetch(`${base(deployment)}/tools/disable`, { method: "POST", headers, body });
      if (!answer.ok) throw new Error(`${base(deployment)}/tools/disable: ${answer.status} ${await answer.text()}`);
    },
    target: async (deployment, targetName) => ({
      name: targetName,
      program,
      mostCallers: 256,
      endpoint: {
        url: `${base(deployment)}/mcp`,
        token: await signer.sign({ aud: deployment, role: ROLE, scope: "tools" }),
      },
    }),
  };
}
