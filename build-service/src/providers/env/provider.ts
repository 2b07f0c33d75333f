import type { Card, DeploymentRecord, DockerImageRecord } from "@agent-env/protocol";
import type { DeployableEnv, DeployContext, DeployOptions } from "../../deploy/deployment.ts";
import type { Addresses } from "../../deploy/topology.ts";
import type { EnvProviderCapabilities } from "../capabilities.ts";
import type { SandboxSession, Service } from "../sandbox/provider.ts";

/** A deployment whose services were started. */
export type Started = {
  readonly options: DeployOptions;
  readonly context: DeployContext;
  readonly deploymentId: string;
  readonly services: readonly Service[];
  readonly addresses: Addresses;
  readonly session: SandboxSession;
  /** What a request to the deployment's gateway has to say of its caller: nothing where callers need no token. */
  readonly headers: Readonly<Record<string, string>>;
  /** Writes the record as it is known so far, for a gateway that reads it from the store. */
  publish(record: DeploymentRecord): Promise<void>;
};

/** How an env is laid out and reached. One file a provider, and one line in `registry.ts`. */
export interface EnvProvider {
  readonly capabilities: EnvProviderCapabilities;
  /** Whether it starts a gateway of the deployment's own, so that its image is needed where the sandbox runs images. */
  startsGateway(mode: DeployOptions["gateway"]): boolean;
  /** Throws a UserError when what it needs besides a sandbox isn't there. */
  require(mode: DeployOptions["gateway"], context: DeployContext): Promise<void>;
  /** What it starts. `gatewayImage` is null where no gateway is started, or one without an image. */
  services(env: DeployableEnv, mode: DeployOptions["gateway"], gatewayImage: DockerImageRecord | null): readonly Service[];
  variables(service: Service, addresses: Addresses, record: DeploymentRecord): Record<string, string>;
  /** `draft` with the servers' addresses, as the gateway that serves the deployment reaches them. */
  withServers(draft: DeploymentRecord, env: DeployableEnv, mode: DeployOptions["gateway"], addresses: Addresses): DeploymentRecord;
  /** Waits until everything is ready; gives the address that callers use, and what is only known there. */
  ready(
    started: Started,
    record: DeploymentRecord,
  ): Promise<{ readonly url: string; readonly card: Card; readonly fields: Partial<DeploymentRecord> }>;
}
