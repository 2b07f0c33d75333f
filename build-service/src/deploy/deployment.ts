import type { DeploymentRecord, DockerImageRecord, Preset } from "@agent-env/protocol";
import type { Installed } from "../plugins/installed.ts";
import type { Emit } from "../report/events.ts";
import type { Store } from "../store/store.ts";
import type { EnvShape } from "../types/can-deploy.ts";

export type DeployableImage = { readonly key: string; readonly record: DockerImageRecord };
export type DeployableServer =
  | { readonly kind: "mcp"; readonly name: string; readonly image: DeployableImage }
  | { readonly kind: "website"; readonly name: string; readonly backend: DeployableImage; readonly frontend: DeployableImage };

/** An env's record with all that it references, read at fixed versions: what a topology is made from. */
export type DeployableEnv = {
  readonly id: string;
  readonly version: number;
  readonly type: string;
  readonly shape: EnvShape;
  readonly provider: string;
  /** A multi's `name`; null: drawn at each deploy. */
  readonly name: string | null;
  readonly servers: readonly DeployableServer[];
};

export type DeployOptions = {
  readonly env: DeployableEnv;
  /** A name of the context's sandboxes. */
  readonly sandbox: string;
  readonly gateway: "container" | "edge";
  /** Run id; in the labels, and in the record until `env deploy` clears it. */
  readonly owner: string;
  readonly ttlSeconds: number;
  readonly cpu: number | null;
  /** Null: 8,192. */
  readonly memoryMb: number | null;
  readonly gatewayMode: "performance" | "consistent";
  /** Whether its callers need tokens. */
  readonly auth: "open" | "token";
  readonly metadata: Readonly<Record<string, unknown>>;
};

/** What making and deploying need from around them. */
export type DeployContext = {
  readonly store: Store;
  readonly stateDir: string;
  readonly emit: Emit;
  readonly signal: AbortSignal;
  /** Base address of the edge gateway, `http://localhost:8787`; for `gateway: "edge"` only. */
  readonly edgeUrl: string;
  readonly plugins: Installed;
  /** The env whose image is the container gateway's: `[envs] default_gateway_env_id`. */
  readonly gatewayEnvId: string;
  /** What a gateway that is started for a deployment is told besides: variables that the operator has set (`gatewaySettings`). */
  readonly gatewaySettings: Readonly<Record<string, string>>;
};

/** A thing that could not be removed: what it is, its name, why. */
export type LeftUp = {
  readonly kind: "container" | "network" | "volume" | "process" | "folder";
  readonly name: string;
  readonly reason: string;
};

/** A running env. */
export type Deployment = {
  readonly record: DeploymentRecord;
  /** What a request to it has to say of its caller, who may do what the preset says: nothing to one without tokens. */
  authorization(preset: Preset): Promise<{ readonly authorization?: string }>;
  /** Puts a file into a server's file system; false where the provider has no file access. */
  placeFile(server: string, path: string, bytes: Uint8Array): Promise<boolean>;
  /** The last lines a server wrote, oldest first. */
  logs(server: string, lines: number): Promise<string>;
  /** Removes all of it, found by label, and closes the record. Safe to call twice. */
  teardown(): Promise<LeftUp[]>;
};
