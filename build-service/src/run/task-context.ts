import type { AnyRecord, Kind } from "@agent-env/protocol";
import type { VerifierSettings } from "../config/settings.ts";
import type { Deployment, DeployOptions } from "../deploy/deployment.ts";
import type { Emit } from "../report/events.ts";
import type { Store } from "../store/store.ts";
import type { Row } from "./verifiers/rows.ts";

export type Verification = { readonly results: readonly Row[]; readonly score: number };

export type DeployRequest = Pick<DeployOptions, "cpu" | "memoryMb" | "gatewayMode" | "ttlSeconds" | "metadata"> & {
  readonly envId: string;
  readonly version: number | null;
  readonly sandboxType: string | null;
};

/** What the steps of one task run share, and what of the run they may use. */
export type TaskContext = {
  /** `tasks/items.json`. */
  readonly task: string;
  readonly stepId: string;
  readonly store: Store;
  readonly emit: Emit;
  readonly signal: AbortSignal;
  readonly verifiers: VerifierSettings;
  /** By env id, in the order they were deployed. */
  readonly deployments: Map<string, Deployment>;
  /** By step id. */
  readonly verifications: Map<string, Verification>;
  deploy(request: DeployRequest): Promise<Deployment>;
  /** A stored entity, at the given version, else at the one that this run has planned with. */
  entity(kind: Kind, id: string, version: number | null): Promise<AnyRecord>;
};
