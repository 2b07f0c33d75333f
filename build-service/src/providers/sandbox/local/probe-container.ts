import type Docker from "dockerode";
import { z } from "zod";
import { until } from "../../../deploy/until.ts";
import { ask, orWhenGone } from "../../../images/engine.ts";
import type { Probe, ProbeResult } from "../provider.ts";
import { containerSpec } from "./container-spec.ts";
import { logText, outputLines } from "./log-frames.ts";

const Result = z.object({ name: z.string(), ok: z.boolean(), reason: z.string().nullable(), afterMs: z.number() });

/** A probe container does nothing but probe; these are what the gateway's image needs to start at all. */
const LIMITS = { cpu: null, memoryMb: 512 };

/**
 * Probes from within a deployment's network, by the gateway's image in probe mode: no bridge address is ever dialled from
 * this machine (on macOS none can be). Its container is gone when this ends, however it does.
 */
export async function probeFromNetwork(
  docker: Docker,
  request: {
    readonly deploymentId: string;
    readonly image: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly probes: readonly Probe[];
  },
  onSettled: (result: ProbeResult) => void,
  signal: AbortSignal,
): Promise<ProbeResult[]> {
  const { deploymentId, image, labels, probes } = request;
  const container = await ask(
    "make the probe's container",
    docker.createContainer({
      ...containerSpec({
        deploymentId,
        service: { name: "probe", port: 1, restart: false },
        imageId: image,
        env: { GATEWAY_PROBES: JSON.stringify(probes) },
        labels,
        limits: LIMITS,
        hostPort: null,
      }),
      ExposedPorts: {},
      Entrypoint: ["node", "gateway.mjs"],
      Cmd: ["probe"],
    }),
  );
  try {
    signal.throwIfAborted();
    await ask("start the probe's container", container.start());
    const results = await until(signal, resultsOf(container, onSettled));
    if (probes.every(({ name }) => results.has(name))) return probes.flatMap(({ name }) => results.get(name) ?? []);
    const said = logText(await container.logs({ stdout: false, stderr: true, tail: 5, follow: false })).trim();
    const reason = `the gateway's image ended its probes early${said === "" ? "" : `: ${said}`}`;
    return probes.map(({ name }) => results.get(name) ?? { name, ok: false, reason, afterMs: 0 });
  } finally {
    await orWhenGone(null, container.remove({ force: true, v: true }));
  }
}

async function resultsOf(container: Docker.Container, onSettled: (result: ProbeResult) => void): Promise<Map<string, ProbeResult>> {
  const results = new Map<string, ProbeResult>();
  const output = await container.logs({ stdout: true, stderr: false, follow: true });
  for await (const line of outputLines(output as AsyncIterable<Uint8Array>)) {
    const read = Result.parse(JSON.parse(line));
    const result = { ...read, reason: read.reason ?? "ready" };
    results.set(result.name, result);
    onSettled(result);
  }
  return results;
}
