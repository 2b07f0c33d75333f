import { concatenated } from "../../core/body.ts";
import { BODY_SILENCE_MS, clientFaultError } from "../../core/client-fault.ts";
import { firstValue } from "../../core/fields.ts";
import { asksForWebSocket } from "../../core/proxy/forward.ts";
import { ClientFault, Fault, type Field, type In, type Out, type Sink, type UpResponse } from "../../core/seam.ts";
import { within } from "../../core/timing.ts";
import { fieldsIn, headersOf } from "./headers.ts";
import type { Place } from "./locate.ts";
import { WorkersUpResponse } from "./upstream.ts";

/** Methods with which a `Request` refuses a body (Fetch standard, §Request class). */
export const BODILESS: ReadonlySet<string> = new Set(["GET", "HEAD"]);
/** Fields that the platform adds on the way in. */
const PLATFORMS = /^(cf-|mf-|x-real-ip$|cdn-loop$)/;
/** Statuses whose responses may have no body (Fetch standard). */
const WITHOUT_BODY = [101, 204, 205, 304];

/** A body of no more than this is read in one go: reading it by chunks costs more than all else that is done with it. */
export const AT_ONCE_BYTES = 65_536;

/** A request that came in over `fetch`. */
export class WorkersIn implements In {
  readonly request: Request;
  readonly method: string;
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly path: string;
  readonly base: string;
  readonly pageBase: string;
  readonly door = "callers";
  readonly sharesOrigin: boolean;
  readonly peer: string | undefined;
  readonly hasBody: boolean;
  readonly wantsUpgrade: boolean;
  readonly #fields: readonly Field[];

  constructor(request: Request, place: Place) {
    const url = new URL(request.url);
    url.hash = "";
    const path = url.href.slice(url.origin.length + place.base.length);
    this.request = request;
    this.method = request.method;
    this.scheme = url.protocol === "https:" ? "https" : "http";
    this.host = url.host;
    this.path = path.startsWith("/") ? path : `/${path}`;
    this.base = place.base;
    this.pageBase = place.pageBase ?? place.base;
    this.sharesOrigin = !place.hasOwnHost;
    this.peer = request.headers.get("cf-connecting-ip") ?? undefined;
    this.hasBody = request.body !== null && request.headers.get("content-length") !== "0";
    this.wantsUpgrade = asksForWebSocket(request.method, request.headers.get("upgrade") ?? undefined);
    this.#fields = clientFields(request);
  }

  header(name: string): string | undefined {
    return firstValue(this.#fields, name);
  }

  headers(): readonly Field[] {
    return this.#fields;
  }

  async bytes(limit: number): Promise<Uint8Array | null> {
    const length = knownLength(this.request.headers);
    if (length !== null && length <= Math.min(limit, AT_ONCE_BYTES)) return await this.#atOnce();
    const reader = this.request.body?.getReader();
    const chunks: Uint8Array[] = [];
    let size = 0;
    while (reader !== undefined) {
      const read = await nextOf(reader);
      if (read.done) break;
      size += read.value.length;
      if (size <= limit) chunks.push(read.value);
      else {
        // not waited for: a client that stalls holds this up as well
        reader.cancel().catch(() => undefined);
        return null;
      }
    }
    return concatenated(chunks, size);
  }

  async pump(take: (chunk: Uint8Array) => void | Promise<void>): Promise<void> {
    await pumped(this.request.body, take);
  }

  /** The request for who takes it whole, at another address: its body fails with a `ClientFault`. */
  requestTo(url: URL): Request {
    const { method, headers, body } = this.request;
    if (body === null || BODILESS.has(method)) return new Request(url, { method, headers });
    const reader = body.getReader();
    const stream = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const read = await nextOf(reader);
        if (read.done) controller.close();
        else controller.enqueue(read.value);
      },
      cancel: (reason) => reader.cancel(reason),
    });
    return new Request(url, { method, headers, body: stream });
  }

  async #atOnce(): Promise<Uint8Array> {
    const whole = await within(this.request.arrayBuffer().catch(left), BODY_SILENCE_MS);
    if (whole === undefined) throw new ClientFault("slow");
    return new Uint8Array(whole);
  }
}

/** The next part of a client's body. Rejects with a `ClientFault`. */
async function nextOf(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<ReadableStreamReadResult<Uint8Array>> {
  const read = await within(reader.read().catch(left), BODY_SILENCE_MS);
  if (read !== undefined) return read;
  // not waited for: a client that stalls holds this up as well
  reader.cancel().catch(() => undefined);
  throw new ClientFault("slow");
}

function left(error: unknown): never {
  throw new ClientFault("left", { cause: error });
}

/** What the client itself sent. The platform says `Accept-Encoding: br, gzip` for every client, and keeps its own text apart. */
function clientFields(request: Request): Field[] {
  const fields = fieldsIn(request.headers).filter(([name]) => !PLATFORMS.test(name));
  const { cf } = request;
  if (cf === undefined || typeof cf["clientAcceptEncoding"] !== "string") return fields;
  const own = cf["clientAcceptEncoding"];
  const others = fields.filter(([name]) => name !== "accept-encoding");
  return own === "" ? others : [...others, ["accept-encoding", own]];
}

/** How long a body will be as it is read here; null where that isn't said, or said of other bytes. */
export function knownLength(headers: Headers): number | null {
  const length = headers.get("content-length");
  return length === null || !/^\d+$/.test(length) || headers.has("content-encoding") ? null : Number(length);
}

/** Gives every chunk of a body to `take`, which holds back the next one while its promise is open. */
export async function pumped(body: ReadableStream<Uint8Array> | null, take: (chunk: Uint8Array) => void | Promise<void>): Promise<void> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(cutOff);
      if (done) return;
      await take(value);
    }
  } catch (error) {
    await reader.cancel(error).catch(() => undefined);
    throw error;
  }
}

/** What a body's failure to come whole means. */
export function cutOff(error: unknown): never {
  throw new Fault("reset", "the connection was cut", { cause: error });
}

/** An answer as a `Response`, which is there as soon as its head is. */
export class WorkersOut implements Out {
  readonly #request: Request;
  readonly #response = Promise.withResolvers<Response>();
  readonly #reset = (): void => this.#leave();
  #gone: () => void = () => undefined;
  #isGone = false;

  constructor(request: Request) {
    this.#request = request;
    // fires only while the head of the answer is awaited, and only where the connection was reset
    request.signal.addEventListener("abort", this.#reset);
  }

  get response(): Promise<Response> {
    return this.#response.promise;
  }

  reply(status: number, headers: readonly Field[], body?: string | Uint8Array): void {
    const kept = body === undefined && this.#request.method !== "HEAD" ? headers.filter(([name]) => name !== "content-length") : headers;
    this.#answer(new Response(body ?? null, { status, headers: headersOf(kept) }));
  }

  stream(status: number, headers: readonly Field[]): Sink {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(undefined, undefined, { highWaterMark: 16 });
    this.#answer(new Response(readable, { status, headers: headersOf(headers) }));
    return new WorkersSink(writable.getWriter(), { isGone: () => this.#isGone, leave: () => this.#leave() });
  }

  /** The body itself is handed on under its own `Content-Encoding`: then the runtime passes its bytes without decoding them. */
  async relay(status: number, headers: readonly Field[], from: UpResponse): Promise<void> {
    if (!(from instanceof WorkersUpResponse)) throw new Error("an answer of another host");
    const body = this.#request.method === "HEAD" || WITHOUT_BODY.includes(status) ? null : from.body;
    this.#answer(new Response(body, { status, headers: headersOf(headers, from.rawHeaders) }));
  }

  /** Answers with what was made elsewhere. */
  respond(response: Response): void {
    this.#answer(response);
  }

  /** A server has switched protocols: its socket is the client's now. */
  switched(headers: readonly Field[], webSocket: WebSocket): void {
    this.#answer(new Response(null, { status: 101, headers: headersOf(headers), webSocket }));
  }

  /** A bug is for the log, not for the client. Without effect once there is an answer. */
  fail(error: unknown): void {
    if (error instanceof ClientFault) {
      const { status, body } = clientFaultError(error);
      this.#answer(Response.json(body, { status, headers: { connection: "close" } }));
      return;
    }
    console.error(error);
    this.#answer(Response.json({ error: "internal error" }, { status: 500 }));
  }

  onGone(then: () => void): void {
    this.#gone = then;
    if (this.#isGone) then();
  }

  /** A listener that stays keeps workerd from freeing all that belongs to the request. */
  #answer(response: Response): void {
    this.#request.signal.removeEventListener("abort", this.#reset);
    this.#response.resolve(response);
  }

  #leave(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#gone();
  }
}

type Client = { readonly isGone: () => boolean; readonly leave: () => void };

/** The body of an answer, written into the stream that the client reads. */
class WorkersSink implements Sink {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #client: Client;
  readonly #encoder = new TextEncoder();
  #isEnded = false;

  constructor(writer: WritableStreamDefaultWriter<Uint8Array>, client: Client) {
    this.#writer = writer;
    this.#client = client;
    writer.closed.catch(client.leave);
  }

  write(chunk: string | Uint8Array): void | Promise<void> {
    if (this.#client.isGone()) return undefined;
    return this.#writer.write(typeof chunk === "string" ? this.#encoder.encode(chunk) : chunk).catch(this.#client.leave);
  }

  end(): void {
    this.#isEnded = true;
    this.#writer.close().catch(this.#client.leave);
  }

  cut(): void {
    this.#writer.abort(new Error("cut")).catch(this.#client.leave);
  }

  get gone(): boolean {
    return this.#client.isGone() || this.#isEnded;
  }
}
