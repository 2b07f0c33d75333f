import { randomInt } from "node:crypto";
import { DeploymentRecord, deploymentSlug } from "@agent-env/protocol";
import type { DeployableEnv, DeployOptions } from "./deployment.ts";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";
const RANDOM_LENGTH = 8;

/** What tells one deployment of an env from all others. */
export type Identity = {
  /** One DNS label without `--` (5-run §5.1). */
  readonly deploymentId: string;
  /** The original's form of the same: `<env id>-<8>`. */
  readonly instanceId: string;
  /** The gateway's name: the multi's, else `env` and four digits. */
  readonly name: string;
};

/** Drawn anew for each deployment. */
export function newIdentity(env: Pick<DeployableEnv, "id" | "name">): Identity {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
  return {
    deploymentId: `${deploymentSlug(env.id)}-${random}`,
    instanceId: `${env.id}-${random}`,
    name: env.name ?? `env${randomInt(1000, 10_000)}`,
  };
}

/** The record of a deployment before anything of it is known but what was asked for. */
export function draftRecord(
  options: DeployOptions,
  identity: Identity,
  { auth, expiresAt }: { readonly auth: DeploymentRecord["auth"]; readonly expiresAt: Date },
): DeploymentRecord {
  return DeploymentRecord.parse({
    deployment_id: identity.deploymentId,
    name: identity.name,
    owner: options.owner,
    auth,
    servers: [],
    ...expiry(expiresAt),
    env_id: options.env.id,
    env_version: options.env.version,
    env_provider_type: options.env.provider,
    instance_id: identity.instanceId,
    metadata: { ...options.metadata },
    sandbox_id: identity.deploymentId,
    sandbox_ids: [identity.deploymentId],
    sandbox_type: options.sandbox,
    gateway_mode: options.gatewayMode,
  });
}

/** An expiry as a record holds it, twice: to the second, and in the original's form. */
export function expiry(at: Date): Pick<DeploymentRecord, "expires_at" | "expires_at_utc"> {
  return { expires_at: rfc3339(at), expires_at_utc: minuteUtc(at) };
}

/** `2026-03-01T09:00:00Z`. */
export function rfc3339(at: Date): string {
  return at.toISOString().replace(/\.\d+Z$/, "Z");
}

/** `2026-03-01 09:00 UTC`, the original's form. */
export function minuteUtc(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
