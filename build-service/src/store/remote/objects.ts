import { Buffer } from "node:buffer";
import { UserError } from "@agent-env/protocol";
import { byCodePoint } from "../../bundle/code-points.ts";
import type { ListedObject, ObjectHead, ObjectStore } from "../store.ts";
import { isMarked, newWriteMark, withMark, withoutMark } from "../write-mark.ts";
import { metadataHeaders, metadataOf } from "./metadata.ts";
import type { S3, S3Answer } from "./s3.ts";

/** R2's limit for one PUT. */
const MAX_PUT_BYTES = 5 * 1024 ** 3;

/** R2 over its S3 API. `beforeWrite` may throw to stop a writer that has no right to write any more. */
export function objectsOver(s3: S3, beforeWrite: () => void): ObjectStore {
  return {
    async get(key) {
      const answer = await s3({ method: "GET", key });
      return answer.status === 404 ? null : { bytes: answer.body, etag: etagOf(answer), metadata: withoutMark(metadataOf(answer.headers)) };
    },
    async head(key) {
      const answer = await s3({ method: "HEAD", key });
      return answer.status === 404 ? null : headOf(key, answer);
    },
    async create(key, content, metadata = {}) {
      beforeWrite();
      return (await conditionalPut(s3, { key, content, metadata, condition: ["if-none-match", "*"] })) !== null;
    },
    async put(key, content, metadata = {}) {
      beforeWrite();
      await s3({ method: "PUT", key, body: bytesOf(key, content), headers: metadataHeaders(metadata) });
    },
    async replace(key, content, etag) {
      beforeWrite();
      return (await conditionalPut(s3, { key, content, metadata: {}, condition: ["if-match", `"${etag}"`] })) !== null;
    },
    async remove(key) {
      beforeWrite();
      await s3({ method: "DELETE", key });
    },
    list: (prefix) => listAll(s3, prefix),
  };
}

type ConditionalPut = {
  readonly key: string;
  readonly content: Uint8Array | string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly condition: readonly ["if-none-match" | "if-match", string];
};

/** The etag of what this call has written; null when the condition doesn't hold. Repeated safely, whatever answer was lost. */
export async function conditionalPut(s3: S3, { key, content, metadata, condition }: ConditionalPut): Promise<string | null> {
  const mark = newWriteMark();
  const headers = [...metadataHeaders(withMark(metadata, mark)), condition];
  const answer = await s3({ method: "PUT", key, body: bytesOf(key, content), headers });
  if (answer.status < 400) return etagOf(answer);
  // An earlier try may have been done although its answer was lost: then what stands in the way is our own.
  if (answer.earlierTries === 0) return null;
  const there = await s3({ method: "HEAD", key });
  return there.status < 400 && isMarked(metadataOf(there.headers), mark) ? etagOf(there) : null;
}

async function listAll(s3: S3, prefix: string): Promise<ListedObject[]> {
  const found: ListedObject[] = [];
  let token: string | undefined;
  do {
    const query = { "list-type": "2", "encoding-type": "url", prefix, ...(token === undefined ? {} : { "continuation-token": token }) };
    const { body } = await s3({ method: "GET", query });
    const page = new TextDecoder().decode(body);
    for (const [, object = ""] of page.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
      found.push({
        key: decodeURIComponent(field(object, "Key").replaceAll("+", " ")),
        sizeBytes: Number(field(object, "Size")),
        etag: bareEtag(field(object, "ETag")),
      });
    }
    token = field(page, "IsTruncated") === "true" ? field(page, "NextContinuationToken") : undefined;
  } while (token !== undefined);
  return found.sort((a, b) => byCodePoint(a.key, b.key));
}

/** The text of an element that stands there once. The elements that are read hold text only. */
function field(xml: string, name: string): string {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  if (text === undefined) throw new Error(`R2's list holds no <${name}>`);
  return text.replace(/&(lt|gt|quot|apos|amp|#34|#39);/g, (_, entity: string) => ENTITIES[entity] ?? "");
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&", "#34": '"', "#39": "'" };

function headOf(key: string, answer: S3Answer): ObjectHead {
  const sizeBytes = Number(answer.headers.get("content-length") ?? Number.NaN);
  return { key, sizeBytes, etag: etagOf(answer), metadata: withoutMark(metadataOf(answer.headers)) };
}

function etagOf({ headers }: S3Answer): string {
  const etag = headers.get("etag");
  if (etag === null) throw new Error("R2 gave no etag");
  return bareEtag(etag);
}

/** A proxy may have made it a weak one (`W/"…"`). */
const bareEtag = (etag: string): string => etag.replace(/^W\//, "").replace(/^"(.*)"$/, "$1");

function bytesOf(key: string, content: Uint8Array | string): Buffer<ArrayBuffer> {
  const bytes = typeof content === "string" ? Buffer.from(content, "utf8") : plain(content);
  if (bytes.length <= MAX_PUT_BYTES) return bytes;
  throw new UserError({
    what: `${key}: ${bytes.length} bytes, too large for the store`,
    why: `R2 takes ${MAX_PUT_BYTES} bytes in one upload`,
    next: "leave large files out of the entry's folder, or out of the image's context by .dockerignore",
  });
}

/** Without a copy, unless the memory is shared, which `fetch` doesn't take. */
function plain(content: Uint8Array): Buffer<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = content;
  return buffer instanceof ArrayBuffer ? Buffer.from(buffer, byteOffset, byteLength) : Buffer.from(Uint8Array.from(content).buffer);
}
