import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parse } from "smol-toml";
import { z } from "zod";
import type { Settings } from "../config/settings.ts";
import { recordsSetting } from "../store/open.ts";
import type { CloudflareRecords } from "../store/remote/setting.ts";
import { type DeployProblem, problemOf } from "./problem.ts";

/** Settings that hold secrets: what stands in `[vars]` is shown by the dashboard, and by this command. */
const SECRET_VARIABLES = ["OTEL_EXPORTER_OTLP_HEADERS"];

/** What of `wrangler.toml` is changed for a deploy; the rest of it goes along. */
const Toml = z.looseObject({
  name: z.string(),
  main: z.string(),
  compatibility_date: z.string(),
  compatibility_flags: z.array(z.string()).default([]),
  vars: z.record(z.string(), z.unknown()).default({}),
  kv_namespaces: z.tuple([z.looseObject({ binding: z.string(), id: z.string() })]),
  r2_buckets: z.tuple([z.looseObject({ binding: z.string(), bucket_name: z.string() })]),
  durable_objects: z.looseObject({ bindings: z.array(z.looseObject({ name: z.string(), class_name: z.string() })) }),
});

/** What will be deployed, as far as this machine knows. */
export type GatewayPlan = {
  readonly toml: z.infer<typeof Toml>;
  /** The store that the gateway reads; null where the configuration names none that the edge can reach. */
  readonly records: CloudflareRecords | null;
  /** The domain of `[gateway] domain`; null: the account's workers.dev. */
  readonly domain: string | null;
};

export type Binding = { readonly name: string; readonly kind: "kv" | "r2" | "durable object"; readonly resource: string | null };

/** Reads the two configurations. Gives all that can be wrong without asking anybody. */
export function planGateway(settings: Settings, tomlPath: string): { readonly plan: GatewayPlan; readonly problems: DeployProblem[] } {
  const toml = edgeToml(tomlPath);
  const domain = settings.gateway().domain?.toLowerCase() ?? null;
  const { records, problems } = recordsOf(settings);
  if (domain !== null && !/^(?=.{1,190}$)([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/.test(domain)) {
    problems.push({
      what: `[gateway] domain: ${JSON.stringify(domain)}`,
      why: "it is no domain name that deployments could have hosts under",
      next: 'write one that a zone of the account covers, like "edge.example.com", or leave it out for workers.dev',
    });
  }
  for (const name of SECRET_VARIABLES.filter((secret) => secret in toml.vars)) {
    problems.push({
      what: `wrangler.toml: [vars] ${name}`,
      why: "it holds a secret, and variables are shown to whoever may look at the Worker",
      next: `take it out, and set it as a secret: npx wrangler secret put ${name}`,
    });
  }
  return { plan: { toml, records, domain }, problems };
}

/** What `wrangler.toml` says, with the whole path of the Worker's entry. */
export function edgeToml(tomlPath: string): GatewayPlan["toml"] {
  const toml = Toml.parse(parse(readFileSync(tomlPath, "utf8")));
  return { ...toml, main: resolve(dirname(tomlPath), toml.main) };
}

/** Deployments of the edge are read from R2 and KV: without those it would know none. */
function recordsOf(settings: Settings): { readonly records: CloudflareRecords | null; readonly problems: DeployProblem[] } {
  try {
    const records = recordsSetting(settings);
    if (records.kind === "local") {
      const why = "records lie on this machine, where a gateway at Cloudflare doesn't see them";
      const next = 'write records = {kind = "cloudflare", …} into [stores] of .agentenv/config.toml, then: agent-env store init';
      return { records: null, problems: [{ what: "[stores] records", why, next }] };
    }
    if (records.kvNamespaceId !== null) return { records, problems: [] };
    const why = "the gateway reads records from that namespace";
    const next = "make it, which prints its id: agent-env store init";
    return { records, problems: [{ what: "[stores] records: kv_namespace_id is missing", why, next }] };
  } catch (error) {
    return { records: null, problems: [problemOf(error)] };
  }
}

/** What the Worker is bound to. A resource is null where the configuration names none. */
export function bindingsOf({ toml, records }: GatewayPlan): Binding[] {
  const [kv] = toml.kv_namespaces;
  const [r2] = toml.r2_buckets;
  return [
    { name: kv.binding, kind: "kv", resource: records?.kvNamespaceId ?? null },
    { name: r2.binding, kind: "r2", resource: records?.bucket ?? null },
    ...toml.durable_objects.bindings.map(({ name, class_name }) => ({ name, kind: "durable object" as const, resource: class_name })),
  ];
}

/** Where the gateway is reached, and by which routes. `zone` covers the domain; null: it is reached at workers.dev. */
export type Place = { readonly host: string; readonly zone: string | null };

/** The patterns that send a domain's requests to the Worker: its own, and those of its deployments and their sites. */
export function routesOf(domain: string): string[] {
  return [`${domain}/*`, `*.${domain}/*`];
}

/** wrangler's configuration for this deploy. A name that nothing is configured for stays as `wrangler.toml` has it. */
export function wranglerDocument({ toml, records }: GatewayPlan, place: Place | null): Record<string, unknown> {
  const [kv] = toml.kv_namespaces;
  const [r2] = toml.r2_buckets;
  const { dev, vars, ...kept } = toml;
  const zone = place?.zone ?? null;
  return {
    ...kept,
    ...(records === null ? {} : { account_id: records.accountId }),
    workers_dev: place !== null && zone === null,
    ...(place === null || zone === null ? {} : { routes: routesOf(place.host).map((pattern) => ({ pattern, zone_name: zone })) }),
    kv_namespaces: [{ ...kv, ...(records?.kvNamespaceId == null ? {} : { id: records.kvNamespaceId }) }],
    r2_buckets: [{ ...r2, ...(records === null ? {} : { bucket_name: records.bucket }) }],
    vars: { ...vars, ...(place === null ? {} : { GATEWAY_DOMAINS: place.host }) },
  };
}
