import { type DockerImageRecord, UserError } from "@agent-env/protocol";
import type { DeployContext, LeftUp } from "../../deploy/deployment.ts";
import type { ImageContext } from "../../images/builder.ts";
import type { SandboxCapabilities } from "../capabilities.ts";

/** One server process of a deployment: what a topology consists of (3-wire §topology). */
export type Service = {
  /** Its name on the deployment's network: `items`, `shop-website-backend`, `gateway`. */
  readonly name: string;
  readonly role: "mcp" | "backend" | "frontend" | "gateway";
  /** The env's server that it belongs to; null for the gateway. */
  readonly server: string | null;
  /** Null: the gateway on a provider that runs it without an image (`image: "source"`). */
  readonly image: DockerImageRecord | null;
  /** The port it listens on inside a container. A provider without networks of its own hands out another. */
  readonly port: number;
  /** Reached from this machine, on 127.0.0.1. */
  readonly published: boolean;
  /** Restart it when it exits with an error. */
  readonly restart: boolean;
};

export type Address = {
  /** As the deployment's other services reach it, without a path: `http://items:18765`. */
  readonly inside: string;
  /** As this machine reaches it, `http://127.0.0.1:23017`; null where it isn't published. */
  readonly outside: string | null;
  /** What the process itself listens on: the host and port for `MCP_HOST`/`MCP_PORT`, `HOST`/`PORT`. */
  readonly listen: { readonly host: string; readonly port: number };
};

export type SessionSpec = {
  readonly deploymentId: string;
  readonly owner: string;
  /** RFC 3339. */
  readonly expiresAt: string;
  readonly cpu: number | null;
  readonly memoryMb: number | null;
};

export type Probe = {
  readonly name: string;
  readonly kind: "tcp" | "http" | "mcp" | "backend";
  readonly url: string;
  readonly budgetSeconds: number;
};
export type ProbeResult = { readonly name: string; readonly ok: boolean; readonly reason: string; readonly afterMs: number };

/** What a provider holds of one deployment, as its labels say. */
export type Labelled = {
  readonly kind: LeftUp["kind"];
  readonly name: string;
  readonly deploymentId: string;
  readonly owner: string;
  /** RFC 3339. */
  readonly expiresAt: string;
  /** `stateLabel` of the state folder whose runs may own it: only there is known whether the owner still lives. */
  readonly state: string;
};

/** A provider that takes no further deployment until others are gone. What is left over is removed then, and it is asked once more. */
export class NoRoom extends UserError {}

/** Where servers run. One file a provider, and one line in `registry.ts`; or a plugin's. */
export interface SandboxProvider {
  readonly capabilities: SandboxCapabilities;
  /** The same with the settings of a preset (5-run §2.4), or what is wrong with them. Left out: it takes none. */
  configured?(settings: Readonly<Record<string, unknown>>): SandboxProvider | { readonly problem: string };
  /** Null when it can be used on this machine, else what is missing and what mends it. */
  unavailable(): Promise<{ readonly why: string; readonly next: string } | null>;
  /** Why this image can't run here, each reason starting with the Dockerfile's path and line; empty if it can. */
  imageProblems(image: ImageContext): Promise<readonly string[]>;
  /** Makes what a deployment's services need around them: a network, a folder. Labelled at creation. */
  open(spec: SessionSpec, context: DeployContext): Promise<SandboxSession>;
  /** Everything of any deployment that is on this machine, ended things too. Empty where the provider can't be used. */
  labelled(context: Pick<DeployContext, "stateDir">): Promise<readonly Labelled[]>;
  /** Removes whatever of that deployment is still there, from labels alone. */
  remove(deploymentId: string, context: Pick<DeployContext, "stateDir" | "emit">): Promise<LeftUp[]>;
}

/** One deployment in the making, and then running. */
export interface SandboxSession {
  /**
   * Settles the addresses of all services before any is started, since they are told of each other. The map is live: an
   * `outside` address changes when its port turned out to be taken at the start, so read it after that.
   */
  reserve(services: readonly Service[]): Promise<ReadonlyMap<string, Address>>;
  start(service: Service, env: Readonly<Record<string, string>>): Promise<void>;
  /** The labels of a reserved service's image. Left out where it runs none. */
  imageLabels?(service: string): Promise<Readonly<Record<string, string>>>;
  /**
   * Probes addresses that only the deployment's own network reaches (`inside` ones). Each settles as ready or with its
   * last reason; `onSettled` is called as they do. Rejects with the signal's reason once nothing of the probing is left.
   */
  probeInside(probes: readonly Probe[], onSettled: (result: ProbeResult) => void, signal: AbortSignal): Promise<readonly ProbeResult[]>;
  /** Null while it runs; else how it ended. */
  exited(service: string): Promise<string | null>;
  logs(service: string, lines: number): Promise<string>;
  /** False where the provider has no file access to that service. */
  placeFile(service: string, path: string, bytes: Uint8Array): Promise<boolean>;
  /** Sandbox ids for the record. */
  readonly ids: readonly string[];
}
