/** A store at Cloudflare: `[stores] records = {kind = "cloudflare", …}` (5-run §12). */
export type CloudflareRecords = {
  readonly kind: "cloudflare";
  readonly accountId: string;
  readonly bucket: string;
  /** Null before `agent-env store init` has made one. */
  readonly kvNamespaceId: string | null;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly apiToken: string;
  /** Where R2's S3 API and Cloudflare's REST API answer, without a slash at the end. */
  readonly endpoints: Endpoints;
};

export type Endpoints = { readonly s3: string; readonly api: string };

/** Where the records that this machine's id doesn't mark as its own lie. */
export type RecordsSetting = { readonly kind: "local" } | CloudflareRecords;

/**
 * The account's endpoints; the variables by which other tools move the same two also move them here (a jurisdiction has an
 * S3 endpoint of its own).
 */
export function endpointsOf(accountId: string, env: Readonly<Record<string, string | undefined>>): Endpoints {
  const withoutSlash = (url: string): string => url.replace(/\/+$/, "");
  return {
    s3: withoutSlash(env["AWS_ENDPOINT_URL_S3"] ?? `https://${accountId}.r2.cloudflarestorage.com`),
    api: withoutSlash(env["CLOUDFLARE_API_BASE_URL"] ?? "https://api.cloudflare.com/client/v4"),
  };
}

/** As messages name the two halves of the store. Neither holds a secret. */
export const bucketName = ({ accountId, bucket }: CloudflareRecords): string =>
  `R2 bucket ${JSON.stringify(bucket)} of account ${accountId}`;
export const namespaceName = ({ accountId, kvNamespaceId }: CloudflareRecords): string =>
  `KV namespace ${kvNamespaceId ?? "(none)"} of account ${accountId}`;
