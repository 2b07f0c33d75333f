import { Agent, type IncomingMessage, request } from "node:http";
import { json } from "node:stream/consumers";
import { z } from "zod";
import type { BindingCall, Bindings } from "./bindings.ts";

/** workerd works through its calls one after the other: more at once only wait there. */
const CONNECTIONS = 16;

/** workerd ends a connection that was idle for 5 s: a call that is sent at that moment would be lost. */
const IDLE_MS = 2_000;

/** Metadata of 8 KiB, the most that R2 takes, is up to eight times that in a header, and Node's own limit is 16 KiB. */
const MOST_HEADER_BYTES = 128 * 1024;

const Head = z.object({
  key: z.string(),
  size: z.number(),
  etag: z.string(),
  uploaded: z.string().transform((text) => new Date(text)),
  customMetadata: z.record(z.string(), z.string()).optional(),
});
const Page = z
  .discriminatedUnion("truncated", [
    z.object({ truncated: z.literal(false) }),
    z.object({ truncated: z.literal(true), cursor: z.string() }),
  ])
  .and(z.object({ objects: z.array(Head) }));
const KeyPage = z
  .discriminatedUnion("list_complete", [
    z.object({ list_complete: z.literal(true) }),
    z.object({ list_complete: z.literal(false), cursor: z.string() }),
  ])
  .and(z.object({ keys: z.array(z.object({ name: z.string() })) }));
const Failure = z.object({ message: z.string() });

/**
 * The bindings of the Worker in `bindings-worker.mjs` that listens at `url` and knows `secret`. A call that fails there throws
 * an error with the text of the binding's own.
 */
export function bindingsAt(url: URL, secret: string): Bindings {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, timeout: IDLE_MS });

  function ask(call: BindingCall, body: Uint8Array | string = ""): Promise<IncomingMessage> {
    const headers = {
      authorization: `Bearer ${secret}`,
      call: encodeURIComponent(JSON.stringify(call)),
      "content-length": Buffer.byteLength(body),
    };
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    request(url, { agent, method: "POST", headers, maxHeaderSize: MOST_HEADER_BYTES }, resolve).on("error", reject).end(body);
    return promise;
  }

  async function result<T>(schema: z.ZodType<T>, ...asked: Parameters<typeof ask>): Promise<T> {
    return schema.parse(await json(await checked(await ask(...asked))));
  }

  return {
    bucket: {
      async get(key) {
        const answer = await checked(await ask({ name: "bucket.get", key }));
        const { head } = answer.headers;
        if (typeof head !== "string") return z.null().parse(await json(answer));
        const found = Head.parse(JSON.parse(decodeURIComponent(head)));
        return { ...found, bytes: await bytesOf(answer, found.size) };
      },
      head: (key) => result(Head.nullable(), { name: "bucket.head", key }),
      put: (key, value, options = {}) => result(Head.nullable(), { name: "bucket.put", key, options }, value),
      delete: async (key) => void (await result(z.null(), { name: "bucket.delete", key })),
      list: (options) => result(Page, { name: "bucket.list", options }),
    },
    namespace: {
      get: (key) => result(z.string().nullable(), { name: "namespace.get", key }),
      put: async (key, value) => void (await result(z.null(), { name: "namespace.put", key }, value)),
      delete: async (key) => void (await result(z.null(), { name: "namespace.delete", key })),
      list: (options) => result(KeyPage, { name: "namespace.list", options }),
    },
    close: async () => agent.destroy(),
  };
}

async function checked(answer: IncomingMessage): Promise<IncomingMessage> {
  if (answer.statusCode === 200) return answer;
  if (answer.statusCode === 500) throw new Error(Failure.parse(await json(answer)).message);
  answer.resume();
  throw new Error(`the local store's Worker answered ${answer.statusCode}`);
}

/** Copied once, from the pieces as they come. Throws when there are more or fewer than `size`. */
async function bytesOf(answer: IncomingMessage, size: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(size);
  let filled = 0;
  for await (const piece of answer) {
    bytes.set(piece, filled);
    filled += piece.length;
  }
  if (filled !== size) throw new Error(`the local store's Worker answered ${filled} bytes of ${size}`);
  return bytes;
}
