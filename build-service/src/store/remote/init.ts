import { UserError } from "@agent-env/protocol";
import { z } from "zod";
import { type Api, answered, apiOver, resultOf } from "./api.ts";
import { exchangeWith } from "./exchange.ts";
import { s3Over } from "./s3.ts";
import { bucketName, type CloudflareRecords, namespaceName } from "./setting.ts";
import { REMOTE_TIMING, type RemoteTiming } from "./timing.ts";

export type InitResult = {
  readonly bucket: { readonly name: string; readonly made: boolean };
  /** Its id has to stand in the configuration: `kv_namespace_id`. */
  readonly namespace: { readonly id: string; readonly made: boolean };
};

const NAMESPACE_TITLE = "agent-env-records";
const BUCKET_NOT_FOUND = 10006;
const BUCKET_EXISTS = 10004;

/**
 * Makes the bucket and the namespace where they aren't there, and tries whether the access key reaches the bucket. Safe to
 * repeat. Throws a UserError (exit code 2) that says what to click where the API token may not make them.
 */
export async function initRemote(setting: CloudflareRecords, timing: RemoteTiming = REMOTE_TIMING): Promise<InitResult> {
  const exchange = exchangeWith(timing);
  const bucketMade = await makeBucket(apiOver(setting, exchange, bucketName(setting)), setting);
  await s3Over(setting, exchange)({ method: "GET", query: { "list-type": "2", "max-keys": "1", prefix: "records/" } });
  return { bucket: { name: setting.bucket, made: bucketMade }, namespace: await makeNamespace(apiOver(setting, exchange), setting) };
}

async function makeBucket(api: Api, setting: CloudflareRecords): Promise<boolean> {
  const dashboard = `https://dash.cloudflare.com/${setting.accountId}/r2/overview`;
  const byHand = `give the token "Workers R2 Storage: Edit", or click it: ${dashboard}, "Create bucket", name ${JSON.stringify(setting.bucket)}`;
  const path = "/r2/buckets";
  const found = await allowed(byHand, () => api({ method: "GET", path: `${path}/${encodeURIComponent(setting.bucket)}` }));
  if (found.status < 400) return false;
  if (!found.codes.includes(BUCKET_NOT_FOUND)) throw refused(bucketName(setting), found, byHand);
  const made = await allowed(byHand, () => api({ method: "POST", path, body: { name: setting.bucket } }));
  // A repetition of a request whose answer was lost, or another machine.
  if (made.status >= 400 && !made.codes.includes(BUCKET_EXISTS)) throw refused(bucketName(setting), made, byHand);
  return true;
}

async function makeNamespace(api: Api, setting: CloudflareRecords): Promise<InitResult["namespace"]> {
  const dashboard = `https://dash.cloudflare.com/${setting.accountId}/workers/kv/namespaces`;
  const byHand = `give the token "Workers KV Storage: Edit", or click it: ${dashboard}, "Create", and write its id into kv_namespace_id of [stores] records`;
  const path = "/storage/kv/namespaces";
  const { kvNamespaceId } = setting;
  if (kvNamespaceId !== null) {
    const found = await allowed(byHand, () => api({ method: "GET", path: `${path}/${encodeURIComponent(kvNamespaceId)}` }));
    if (found.status < 400) return { id: kvNamespaceId, made: false };
    const next = "leave kv_namespace_id out of [stores] records, and run this again, which makes one";
    throw refused(namespaceName(setting), found, next);
  }
  const of = z.object({ id: z.string(), title: z.string() });
  const listed = await allowed(byHand, () => api({ method: "GET", path: `${path}?per_page=1000` }));
  const existing = resultOf(namespaceName(setting), listed, z.array(of)).find(({ title }) => title === NAMESPACE_TITLE);
  if (existing !== undefined) return { id: existing.id, made: false };
  const made = await allowed(byHand, () => api({ method: "POST", path, body: { title: NAMESPACE_TITLE } }));
  if (made.status >= 400) throw refused(namespaceName(setting), made, byHand);
  return { id: resultOf(namespaceName(setting), made, of).id, made: true };
}

/** The same refusal, with what to click. */
async function allowed<T>(next: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof UserError) || error.exitCode !== 2) throw error;
    throw new UserError({ what: error.message, why: error.why, next, exitCode: 2 }, { cause: error });
  }
}

function refused(what: string, { status, codes }: { status: number; codes: readonly number[] }, next: string): UserError {
  return new UserError({ what, why: `Cloudflare answered ${answered(status, codes)}`, next, exitCode: 2 });
}
