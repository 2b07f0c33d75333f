import type { DeploymentObject } from "./deployment-object.ts";

/** The bindings and variables of `wrangler.toml`, and the settings that both hosts have. */
export type Environment = {
  readonly RECORDS: KVNamespace;
  readonly STORE: R2Bucket;
  readonly DEPLOYMENT: DurableObjectNamespace<DeploymentObject>;
  /** The deployment of requests that name none. */
  readonly DEFAULT_DEPLOYMENT?: string;
  /** Domains under which deployments have hosts of their own, as a comma list. */
  readonly GATEWAY_DOMAINS?: string;
} & Readonly<Record<`${"GATEWAY" | "OTEL"}_${string}`, string | undefined>>;
