import { z } from "zod";
import { type Exchange, exchangeWith } from "../store/remote/exchange.ts";
import { bucketName, type CloudflareRecords, namespaceName } from "../store/remote/setting.ts";
import { REMOTE_TIMING, type RemoteTiming } from "../store/remote/timing.ts";
import type { GatewayPlan, Place } from "./plan.ts";
import { type DeployProblem, problemOf } from "./problem.ts";

/** Who deploys waits for it. */
const HASTY: RemoteTiming = { ...REMOTE_TIMING, tries: 3, silenceMs: 10_000, longestRetryAfterMs: 5_000 };

export type Checked = { readonly place: Place | null; readonly secrets: readonly string[]; readonly problems: readonly DeployProblem[] };
type Finding = { readonly problem: DeployProblem } | { readonly problem: null };

const Named = z.array(z.looseObject({ name: z.string() }));
const Subdomain = z.looseObject({ subdomain: z.string().nullable() });
const Answer = z.looseObject({ result: z.unknown() });

/** Asks the account for all that a deploy needs: all that is wrong at once, with what to do about it. */
export async function checkAccount(plan: GatewayPlan, records: CloudflareRecords): Promise<Checked> {
  const api = asker(records, exchangeWith(HASTY));
  const account = `/accounts/${encodeURIComponent(records.accountId)}`;
  const token = "give api_token of [stores] records the permission";
  const needs: readonly Need[] = [
    {
      path: `${account}/workers/scripts`,
      what: `account ${records.accountId}: Workers`,
      denied: `${token} "Workers Scripts: Edit", and look at account_id`,
      absent: "look at account_id of [stores] records",
    },
    {
      path: `${account}/storage/kv/namespaces/${encodeURIComponent(records.kvNamespaceId ?? "")}`,
      what: namespaceName(records),
      denied: `${token} "Workers KV Storage: Edit"`,
      absent: "leave kv_namespace_id out of [stores] records, then: agent-env store init",
    },
    {
      path: `${account}/r2/buckets/${encodeURIComponent(records.bucket)}`,
      what: bucketName(records),
      denied: `${token} "Workers R2 Storage: Edit"`,
      absent: "make it: agent-env store init",
    },
  ];
  const [found, placed, secrets] = await Promise.all([
    Promise.all(needs.map((need) => finding(api, need))),
    plan.domain === null ? workersDev(api, account, plan.toml.name) : zoneOf(api, plan.domain),
    secretsOf(api, account, plan.toml.name),
  ]);
  const problems = [...found, placed].flatMap(({ problem }) => (problem === null ? [] : [problem]));
  return { place: "place" in placed ? placed.place : null, secrets, problems };
}

type Need = { readonly path: string; readonly what: string; readonly denied: string; readonly absent: string };
type Api = (path: string) => Promise<{ readonly status: number; readonly result: unknown }>;

function asker(records: CloudflareRecords, exchange: Exchange): Api {
  return async (path) => {
    const { answer } = await exchange({
      target: `account ${records.accountId}`,
      what: `GET ${path}`,
      conflict: "answer",
      build: async () => ({
        method: "GET",
        url: `${records.endpoints.api}${path}`,
        headers: new Headers({ authorization: `Bearer ${records.apiToken}` }),
      }),
    });
    return { status: answer.status, result: resultIn(new TextDecoder().decode(answer.body)) };
  };
}

/** A proxy's own page has no result. */
function resultIn(text: string): unknown {
  try {
    return Answer.safeParse(JSON.parse(text)).data?.result ?? null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

async function finding(api: Api, { path, what, denied, absent }: Need): Promise<Finding> {
  try {
    const { status } = await api(path);
    if (status < 400) return { problem: null };
    const isDenied = status === 401 || status === 403;
    const why = isDenied ? `Cloudflare answered ${status}: the API token is wrong, or may not use it` : `Cloudflare answered ${status}`;
    return { problem: { what, why, next: isDenied ? denied : absent } };
  } catch (error) {
    return { problem: problemOf(error) };
  }
}

type Placed = { readonly problem: null; readonly place: Place } | { readonly problem: DeployProblem };

async function workersDev(api: Api, account: string, name: string): Promise<Placed> {
  const what = "workers.dev";
  try {
    const { status, result } = await api(`${account}/workers/subdomain`);
    const subdomain = Subdomain.safeParse(result).data?.subdomain ?? null;
    if (status < 400 && subdomain !== null) return { problem: null, place: { host: `${name}.${subdomain}.workers.dev`, zone: null } };
    const why = `Cloudflare answered ${status}: the account has no subdomain there, and [gateway] domain names no other place`;
    return { problem: { what, why, next: "write [gateway] domain, or open Workers & Pages in the dashboard once, which makes one" } };
  } catch (error) {
    return { problem: problemOf(error) };
  }
}

/** The zone that covers a domain: the longest of its ends that the token sees one for. */
async function zoneOf(api: Api, domain: string): Promise<Placed> {
  const labels = domain.split(".");
  const ends = labels.slice(0, -1).map((_, at) => labels.slice(at).join("."));
  const what = `[gateway] domain: ${JSON.stringify(domain)}`;
  try {
    for (const end of ends) {
      const { status, result } = await api(`/zones?name=${encodeURIComponent(end)}`);
      if (status === 401 || status === 403) {
        const next = 'give api_token of [stores] records the permissions "Zone: Read" and "Workers Routes: Edit"';
        return { problem: { what, why: `Cloudflare answered ${status}: the API token may not look at zones`, next } };
      }
      if (Named.safeParse(result).data?.some(({ name }) => name === end)) return { problem: null, place: { host: domain, zone: end } };
    }
    const why = "no zone that the API token sees covers it";
    return { problem: { what, why, next: "add the zone to the account, or leave the domain out for workers.dev" } };
  } catch (error) {
    return { problem: problemOf(error) };
  }
}

/** Names of the Worker's secrets, which stay as they are. A Worker that isn't there has none; what is denied is told elsewhere. */
async function secretsOf(api: Api, account: string, name: string): Promise<readonly string[]> {
  try {
    const { result } = await api(`${account}/workers/scripts/${encodeURIComponent(name)}/secrets`);
    return (Named.safeParse(result).data ?? []).map((secret) => secret.name).sort();
  } catch (error) {
    problemOf(error);
    return [];
  }
}
