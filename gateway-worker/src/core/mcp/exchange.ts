import { isJsonObject, type JsonObject, jsonIn, SESSION_HEADER, VERSION_HEADER } from "@agent-env/protocol";
import { BodyTooLarge, textOf } from "../body.ts";
import { Fault, type Field, type Host, type UpResponse } from "../seam.ts";
import { Timer } from "../timing.ts";
import { EventTooLarge, SseReader } from "./sse.ts";

const MAX_REDIRECTS = 3;
/** A server may keep a stream open after the reply; then it is closed for it. */
const AFTER_REPLY_MS = 1000;
/** However often a call shows signs of life. */
const LONGEST_CALL_MS = 3_600_000;

/** One message to a server's endpoint. */
export type Post = {
  readonly url: string;
  /** Its id tells the reply; a message without one gets none. */
  readonly message: JsonObject;
  readonly session: string | undefined;
  readonly version: string | undefined;
  readonly fields: readonly Field[];
  /** How long the server may send no message. */
  readonly silenceMs: number;
  readonly maxBytes: number;
  /** What the server says besides the reply. */
  readonly heard: (message: JsonObject) => void;
  readonly signal?: AbortSignal;
};

/** What came back. `reply` is a JSON-RPC response, perhaps an error. */
export type Answered = { readonly status: number; readonly session: string | undefined; readonly reply: JsonObject | undefined };

/** A server that answered with something that is no MCP. `detail` holds no address. */
export class BadAnswer extends Error {}

/** Posts one message and waits for its reply. Throws `Fault` and `BadAnswer`. */
export async function exchange(host: Pick<Host, "upstream">, post: Post): Promise<Answered> {
  let url = post.url;
  for (let redirects = 0; ; redirects++) {
    const upstream = host.upstream({
      method: "POST",
      url,
      headers: fieldsOf(post),
      body: JSON.stringify(post.message),
      idleMs: LONGEST_CALL_MS,
    });
    const watch = new Watch(post, upstream.abort);
    try {
      const response = await watch.orTimeout(upstream.response);
      const next = redirectOf(response, url);
      if (next === null) return await answerOf(response, post, watch);
      response.discard();
      if (redirects === MAX_REDIRECTS) throw new BadAnswer(`redirected more than ${MAX_REDIRECTS} times`);
      url = next;
    } finally {
      watch.stop();
    }
  }
}

function fieldsOf(post: Post): Field[] {
  const fields: Field[] = [
    ["content-type", "application/json"],
    ["accept", "application/json, text/event-stream"],
    ["accept-encoding", "identity"],
    ...post.fields,
  ];
  if (post.session !== undefined) fields.push([SESSION_HEADER, post.session]);
  if (post.version !== undefined) fields.push([VERSION_HEADER, post.version]);
  return fields;
}

/** A redirect within the server's own origin; anything else is an answer. */
function redirectOf(response: UpResponse, from: string): string | null {
  if (response.status !== 307 && response.status !== 308) return null;
  const to = URL.parse(response.header("location") ?? "", from);
  if (to === null || to.origin !== new URL(from).origin) throw new BadAnswer(`HTTP ${response.status} to another origin`);
  return to.href;
}

async function answerOf(response: UpResponse, post: Post, watch: Watch): Promise<Answered> {
  const { status } = response;
  const session = response.header(SESSION_HEADER);
  const type = (response.header("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
  const expectsReply = post.message["id"] !== undefined && typeof post.message["method"] === "string";
  if (status >= 200 && status < 300 && !expectsReply) {
    response.discard();
    return { status, session, reply: undefined };
  }
  if (status === 200 && type === "text/event-stream") return { status, session, reply: await replyInStream(response, post, watch) };
  const text = await bounded(watch.orTimeout(textOf(response, post.maxBytes)), post.maxBytes);
  const reply = jsonObjectOf(text);
  if (status === 200 && (type !== "application/json" || reply === undefined))
    throw new BadAnswer(`HTTP 200 ${type ?? "without a content type"}`);
  return { status, session, reply };
}

function jsonObjectOf(text: string): JsonObject | undefined {
  const value = jsonIn(text);
  return isJsonObject(value) ? value : undefined;
}

async function bounded<T>(work: Promise<T>, maxBytes: number): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof BodyTooLarge || error instanceof EventTooLarge) throw new BadAnswer(`its answer is larger than ${maxBytes} bytes`);
    throw error;
  }
}

/** The reply as soon as it is there. What is left of the stream is read on, so that its connection can be used again. */
async function replyInStream(response: UpResponse, post: Post, watch: Watch): Promise<JsonObject> {
  const reader = new SseReader(post.maxBytes);
  const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
  const grace = new Timer();
  let isAnswered = false;
  const take = (chunk: Uint8Array): void => {
    for (const event of reader.push(chunk)) {
      watch.sign();
      // an event without data only gives the stream its first id
      if (event.data === "") continue;
      const message = jsonObjectOf(event.data);
      if (message === undefined) throw new BadAnswer("an event that is no JSON object");
      if (typeof message["method"] === "string") post.heard(message);
      else if (isReplyTo(message, post.message["id"])) {
        if (!isAnswered) grace.set(AFTER_REPLY_MS, watch.abort);
        isAnswered = true;
        resolve(message);
      }
    }
  };
  response.pump(take).then(
    () => {
      grace.stop();
      reject(new Fault("reset", "the stream ended before the reply"));
    },
    (error: unknown) => {
      grace.stop();
      watch.abort();
      reject(error);
    },
  );
  return await bounded(watch.orTimeout(promise), post.maxBytes);
}

function isReplyTo(message: JsonObject, id: unknown): boolean {
  return message["id"] === id && (message["result"] !== undefined || message["error"] !== undefined);
}

/** Ends an exchange that is silent too long, or that nobody wants any more. */
class Watch {
  readonly abort: () => void;
  readonly #silenceMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #deadline: number;
  readonly #ended = Promise.withResolvers<never>();
  readonly #onAbort: () => void;
  readonly #timer = new Timer();
  #isStopped = false;

  constructor(post: Post, abort: () => void) {
    this.abort = abort;
    this.#silenceMs = post.silenceMs;
    this.#signal = post.signal;
    this.#deadline = Date.now() + LONGEST_CALL_MS;
    this.#ended.promise.catch(() => undefined);
    this.#onAbort = () => this.#end(new Fault("unknown", "cancelled"));
    this.#signal?.addEventListener("abort", this.#onAbort);
    if (this.#signal?.aborted) this.#onAbort();
    this.sign();
  }

  /** The server has shown that it lives. */
  sign(): void {
    if (this.#isStopped) return;
    const left = Math.min(this.#silenceMs, this.#deadline - Date.now());
    this.#timer.set(left, () => this.#end(new Fault("timeout", `no answer within ${this.#silenceMs / 1000}s`)));
  }

  orTimeout<T>(work: Promise<T>): Promise<T> {
    work.catch(() => undefined);
    return Promise.race([work, this.#ended.promise]);
  }

  stop(): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#isStopped = true;
    this.#timer.stop();
  }

  #end(fault: Fault): void {
    this.abort();
    this.#ended.reject(fault);
  }
}
