import type { ContainerCreateOptions } from "dockerode";
import type { Service } from "../provider.ts";

const DEFAULT_MEMORY_MB = 8_192;
const PIDS = 1_024;
/** What an image's start usually needs to change users, bind low ports and end its children. */
const KEPT_CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID", "NET_BIND_SERVICE"];

/** A deployment's name for one of its containers, and its network's, on the Engine. */
export const containerName = (deploymentId: string, service: string): string => `${networkName(deploymentId)}-${service}`;
export const networkName = (deploymentId: string): string => `agent-env-${deploymentId}`;

export type Limits = { readonly cpu: number | null; readonly memoryMb: number | null };

/** A container with the limits that every one of ours has (5-run §5.4), on its deployment's network under its service's name. */
export function containerSpec(options: {
  readonly deploymentId: string;
  readonly service: Pick<Service, "name" | "port" | "restart">;
  readonly imageId: string;
  readonly env: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly limits: Limits;
  /** On 127.0.0.1; null: not published. */
  readonly hostPort: number | null;
}): ContainerCreateOptions {
  const { deploymentId, service, imageId, env, labels, limits, hostPort } = options;
  const network = networkName(deploymentId);
  const port = `${service.port}/tcp`;
  const memoryBytes = (limits.memoryMb ?? DEFAULT_MEMORY_MB) * 1024 * 1024;
  return {
    name: containerName(deploymentId, service.name),
    Image: imageId,
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    Labels: { ...labels },
    ExposedPorts: { [port]: {} },
    HostConfig: {
      NetworkMode: network,
      PortBindings: hostPort === null ? {} : { [port]: [{ HostIp: "127.0.0.1", HostPort: String(hostPort) }] },
      RestartPolicy: { Name: service.restart ? "on-failure" : "no" },
      Memory: memoryBytes,
      // The same as the memory: no swap on top of it.
      MemorySwap: memoryBytes,
      ...(limits.cpu === null ? {} : { NanoCpus: Math.round(limits.cpu * 1e9) }),
      PidsLimit: PIDS,
      SecurityOpt: ["no-new-privileges:true"],
      CapDrop: ["ALL"],
      CapAdd: [...KEPT_CAPABILITIES],
    },
    NetworkingConfig: { EndpointsConfig: { [network]: { Aliases: [service.name] } } },
  };
}
