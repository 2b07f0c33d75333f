import { z } from "zod";
import { Card } from "./card.ts";
import { tableOf } from "./table.ts";

/** One server behind a gateway. These are the only addresses that a gateway ever contacts. */
export const DeployedServer = z.object({
  /** The name in the deployment: `/svc/mcp-<name>` for an MCP server, `/svc/<name>` and `/website/<name>` for a site. */
  name: z.string().min(1),
  kind: z.enum(["mcp", "website"]),
  /** Base address as the gateway reaches it: the MCP server's, or the site's backend. */
  url: z.url({ protocol: /^https?$/ }),
  /** Kind `mcp` only: the endpoint's path on `url`. A site's endpoint is read from its card. */
  mcp_path: z.string().startsWith("/").optional(),
  /** Kind `mcp` only: the endpoint where it isn't on `url` (the container's variables allow that). */
  mcp_url: z.url({ protocol: /^https?$/ }).optional(),
  /** False: not reached under `/svc`, and no child of the gateway's card. */
  svc: z.literal(false).optional(),
  /** Kind `website` only: the site's front end. */
  frontend_url: z.url({ protocol: /^https?$/ }).optional(),
  /** The site's host label (`7-sites`). */
  label: z.string().optional(),
});
export type DeployedServer = z.infer<typeof DeployedServer>;

/** The public keys that sign the deployment's tokens: several while one takes another's place. */
const Keys = z.array(z.record(z.string(), z.unknown()));

/** In open mode tokens are for browsers alone, where a site's pages share the gateway's origin. */
const DeploymentAuth = z.discriminatedUnion("mode", [
  z.object({ mode: z.literal("open"), keys: Keys.optional() }),
  z.object({ mode: z.literal("token"), keys: Keys }),
]);

/**
 * What runs, written by the build service and read by the gateway: the contract between the two (5-run §6). Field names
 * are the original's where it has them. It holds no secret.
 */
export const DeploymentRecord = z.looseObject({
  /** One DNS label: `<slug of the env>-<8 of a-z0-9>`. Missing only in a record made from the container's variables. */
  deployment_id: z.string().optional(),
  /** Rises with each write, so that a stale copy is recognised. */
  revision: z.int().nonnegative().default(0),
  /** The gateway's name on its card and as an MCP server: the multi's `name`, else `env` and four digits. */
  name: z.string().min(1),
  status: z.enum(["up", "expired", "stopped"]).default("up"),
  /** The run that owns it; null once `env deploy` has ended well, from then on only expiry counts. */
  owner: z.string().nullable().default(null),
  auth: DeploymentAuth,
  servers: z.array(DeployedServer),
  sites: tableOf(z.object({ prefix: z.enum(["keep", "strip"]).optional(), verdict: z.string().optional() })).default({}),
  /** Further `Host` values to answer. */
  hosts: z.array(z.string()).default([]),
  /** A second port, on which only the hosts of sites are served: to the agent's browser, in the deployment's network. */
  browser_port: z.int().min(0).max(65_535).optional(),
  browse_urls: tableOf(z.string()).default({}),
  /** RFC 3339, to the second. */
  expires_at: z.string().nullable().default(null),

  env_id: z.string().nullable().default(null),
  env_version: z.int().nullable().default(null),
  env_provider_type: z.string().default("gateway"),
  instance_id: z.string().nullable().default(null),
  environment_card: Card.nullable().default(null),
  environment_card_url: z.string().nullable().default(null),
  environment_card_read_at_utc: z.string().nullable().default(null),
  mcp_url: z.string().nullable().default(null),
  mcp_server_name: z.string().nullable().default(null),
  metadata: z.record(z.string(), z.unknown()).default({}),
  created_at_utc: z.string().nullable().default(null),
  expires_at_utc: z.string().nullable().default(null),
  sandbox_id: z.string().nullable().default(null),
  sandbox_ids: z.array(z.string()).default([]),
  sandbox_type: z.string().nullable().default(null),
  gateway_url: z.string().nullable().default(null),
  /** Where a container gateway finds the changelog; in its own copy of the record only, since it holds a password. */
  service_db_url: z.string().optional(),
  gateway_mode: z.enum(["performance", "consistent"]).default("performance"),
  db_web_url: z.string().nullable().default(null),
  db_mcp_url: z.string().nullable().default(null),
  website_frontend_urls: tableOf(z.string()).default({}),
  vnc_url: z.string().nullable().default(null),
  env_state_instance_ids: z.array(z.string()).default([]),
});
export type DeploymentRecord = z.infer<typeof DeploymentRecord>;

/** KV key of a deployment's projection `{revision, record}`, and the R2 key of its truth. */
export const deploymentKvKey = (id: string): string => `deployment:${id}`;
export const deploymentObjectKey = (id: string): string => `deployments/${id}.json`;

/** KV key of a site's host label that holds its deployment's id in part only; the value is the whole id. */
export const labelKvKey = (label: string): string => `label:${label}`;

/** The labels of a record's sites that can't be read for whose they are: they were cut (`7-sites` §1). */
export function cutLabels({ deployment_id, servers }: Pick<DeploymentRecord, "deployment_id" | "servers">): string[] {
  return servers.flatMap(({ label }) => (label === undefined || label.includes(`--${deployment_id}`) ? [] : [label]));
}

/** A KV value: the projection of a record with the revision it shows, so that a stale read is recognised. */
export const Projection = z.object({ revision: z.int(), record: z.unknown() });
