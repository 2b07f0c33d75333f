import { UserError } from "@agent-env/protocol";
import { AwsV4Signer } from "aws4fetch";
import { sha256Hex } from "../../bundle/ids.ts";
import type { Exchange, RemoteAnswer, RemoteRequest } from "./exchange.ts";
import { bucketName, type CloudflareRecords } from "./setting.ts";

export type S3Request = {
  readonly method: "GET" | "HEAD" | "PUT" | "DELETE";
  /** Left out: the bucket itself. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: Uint8Array<ArrayBuffer>;
};
export type S3Answer = RemoteAnswer & {
  /** S3's own word for an error, from the answer's body. */
  readonly code: string | null;
  readonly earlierTries: number;
};

/**
 * Sends signed requests to the bucket. Gives what was found (2xx), 404 for a missing object and 412 for a condition that
 * doesn't hold; throws a UserError for every other answer.
 */
export type S3 = (request: S3Request) => Promise<S3Answer>;

export function s3Over(setting: CloudflareRecords, exchange: Exchange): S3 {
  const keys = new Map<string, ArrayBuffer>();
  return async (request) => {
    const what = `${request.method} ${request.key ?? "the bucket"}`;
    const target = bucketName(setting);
    const url = urlOf(setting, request);
    const { answer, earlierTries } = await exchange({ target, what, conflict: "passes", build: () => signed(url, request, setting, keys) });
    const code = answer.status < 400 ? null : (/<Code>([A-Za-z0-9]+)<\/Code>/.exec(new TextDecoder().decode(answer.body))?.[1] ?? null);
    if (answer.status < 400 || answer.status === 412) return { ...answer, code, earlierTries };
    if (answer.status === 404 && request.key !== undefined && code !== "NoSuchBucket") return { ...answer, code, earlierTries };
    throw refusal(`${target}: ${what}`, answer.status, code);
  };
}

async function signed(
  url: string,
  { method, headers = [], body }: S3Request,
  { accessKeyId, secretAccessKey }: CloudflareRecords,
  cache: Map<string, ArrayBuffer>,
): Promise<RemoteRequest> {
  const toSign = new Headers([...headers.map(([name, value]): [string, string] => [name, value])]);
  toSign.set("x-amz-content-sha256", sha256Hex(body ?? ""));
  const signer = new AwsV4Signer({ method, url, headers: toSign, accessKeyId, secretAccessKey, service: "s3", region: "auto", cache });
  const { headers: ready } = await signer.sign();
  // Not signed: proxies change it. A compressed answer would carry a weak etag.
  ready.set("accept-encoding", "identity");
  return { method, url, headers: ready, body };
}

/** The path form, which any endpoint takes. Throws a UserError for a key that the parts of a URL can't spell. */
function urlOf({ endpoints, bucket }: CloudflareRecords, { key, query = {} }: S3Request): string {
  const parts = key === undefined ? [] : key.split("/");
  if (parts.some((part) => part === "." || part === "..")) {
    throw new UserError({
      what: `${key}: no key of the store`,
      why: 'a part "." or ".." of an address stands for a folder',
      next: "give the id another name",
    });
  }
  const url = new URL(`${endpoints.s3}/${[bucket, ...parts].map(encoded).join("/")}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}

/** As a signature spells it, so that what is signed is what is sent. */
const encoded = (part: string): string =>
  encodeURIComponent(part).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

function refusal(what: string, status: number, code: string | null): UserError {
  const answer = `R2 answered ${status}${code === null ? "" : ` ${code}`}`;
  if (code === "NoSuchBucket" || status === 404)
    return new UserError({ what, why: `${answer}: there is no such bucket`, next: "make it: agent-env store init", exitCode: 2 });
  if (code === "RequestTimeTooSkewed")
    return new UserError({ what, why: `${answer}: this machine's clock is wrong`, next: "set the clock, then run it again", exitCode: 2 });
  if (status === 401 || status === 403) {
    const next = "look at access_key_id and secret_access_key of [stores] records, then: agent-env doctor";
    return new UserError({ what, why: `${answer}: the access key is wrong, or may not do that`, next, exitCode: 2 });
  }
  return new UserError({ what, why: answer, next: "look that code up at https://developers.cloudflare.com/r2/api/error-codes/" });
}
