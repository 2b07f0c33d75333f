import { firstValue } from "../../core/fields.ts";
import { ClientFault, Fault, type Field, type UpExchange, type UpRequest, type UpResponse } from "../../core/seam.ts";
import { isFinalStatus, notAStatus } from "../final-status.ts";
import type { Doors } from "./doors.ts";
import { fieldsIn, headersOf } from "./headers.ts";
import { AT_ONCE_BYTES, cutOff, knownLength, pumped, WorkersIn } from "./in-out.ts";

const CONNECT_AND_HEAD_MS = 3_600_000;
/** How much of a client's body is read at once. */
const CHUNK_BYTES = 65_536;

/** Sends one request to a server by `fetch`. `doors` tells a server that isn't there from one that broke off. */
export function upstreamBy(doors: Doors): (request: UpRequest) => UpExchange {
  return (request) => {
    const ending = new AbortController();
    return { response: sent(request, doors, ending), abort: () => ending.abort() };
  };
}

async function sent(request: UpRequest, doors: Doors, ending: AbortController): Promise<UpResponse> {
  await doors.knock(request.url);
  try {
    return new WorkersUpResponse(await answered(request, ending));
  } catch (error) {
    if (error instanceof Fault || error instanceof ClientFault) throw error;
    if (ending.signal.aborted) throw new Fault("unknown", "given up", { cause: error });
    throw await doors.faultOf(request.url, error);
  }
}

/** The answer's head. Its body is not followed when it redirects. `ending` ends the exchange: from outside, or when it is late. */
export async function answered(request: UpRequest, ending: AbortController): Promise<Response> {
  const headers = headersOf(request.headers, request.passesOn instanceof WorkersIn ? request.passesOn.request.headers : undefined);
  let isLate = false;
  const end = (): void => {
    isLate = true;
    ending.abort();
  };
  const timer = setTimeout(end, Math.min(request.idleMs, CONNECT_AND_HEAD_MS));
  let left: ClientFault | null = null;
  const leave = (error: unknown): void => {
    left = new ClientFault("left", { cause: error });
    ending.abort();
  };
  const body = request.body instanceof WorkersIn ? clientBody(request.body, request, leave) : bodyOf(request.body);
  try {
    const response = await fetch(request.url, {
      method: request.method,
      headers,
      body,
      redirect: "manual",
      signal: ending.signal,
    });
    // an unasked 101 included; one that was asked for brings its socket
    if (!isFinalStatus(response.status) && response.webSocket === null) {
      await response.body?.cancel();
      throw notAStatus(response.status);
    }
    return response;
  } catch (error) {
    if (left !== null) throw left;
    if (isLate) throw new Fault("timeout", `no answer within ${request.idleMs / 1000}s`, { cause: error });
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** A client's body on its way, with whoever wants to see it. Its length is kept where it is known. `left`: it didn't come whole. */
function clientBody(
  { request: { body } }: WorkersIn,
  { bodySeen, headers }: UpRequest,
  left: (error: unknown) => void,
): ReadableStream<Uint8Array> | null {
  if (body === null) return null;
  const length = firstValue(headers, "content-length");
  const sizeBytes = length === undefined ? Number.POSITIVE_INFINITY : Number(length);
  const { readable, writable } = length === undefined ? new IdentityTransformStream() : new FixedLengthStream(sizeBytes);
  void passedOn(body, writable, { sizeBytes, seen: bodySeen, left });
  return readable;
}

/**
 * Copies a client's body. `fetch` has one word for a client that leaves and a server that does, and so has `pipeTo`. What a
 * client leaves undone is left open: closed or aborted, chunks would reach the server as if they were the whole.
 */
async function passedOn(
  from: ReadableStream<Uint8Array>,
  to: WritableStream<Uint8Array>,
  { sizeBytes, seen, left }: { sizeBytes: number; seen: UpRequest["bodySeen"]; left: (error: unknown) => void },
): Promise<void> {
  const reader = from.getReader({ mode: "byob" });
  const writer = to.getWriter();
  let leftBytes = sizeBytes;
  // a server that takes no more says so in its answer, or by the exchange's fault
  const refused = (error: unknown): Promise<void> => reader.cancel(error).catch(() => undefined);
  while (leftBytes > 0) {
    const read = await reader.read(new Uint8Array(Math.min(CHUNK_BYTES, leftBytes))).catch(left);
    if (read === undefined) return;
    if (read.done) break;
    seen?.(read.value);
    leftBytes -= read.value.length;
    try {
      await writer.write(read.value);
    } catch (error) {
      return await refused(error);
    }
  }
  await writer.close().catch(refused);
}

function bodyOf(body: UpRequest["body"]): string | Uint8Array | null {
  if (typeof body === "string" || body instanceof Uint8Array || body === null) return body;
  throw new Error("a request of another host");
}

/** An answer that came by `fetch`. */
export class WorkersUpResponse implements UpResponse {
  readonly #response: Response;

  constructor(response: Response) {
    this.#response = response;
  }

  get status(): number {
    return this.#response.status;
  }

  /** As they came, with their bytes. */
  get rawHeaders(): Headers {
    return this.#response.headers;
  }

  get body(): ReadableStream<Uint8Array> | null {
    return this.#response.body;
  }

  header(name: string): string | undefined {
    return this.#response.headers.get(name) ?? undefined;
  }

  headers(): Field[] {
    return fieldsIn(this.#response.headers);
  }

  async pump(take: (chunk: Uint8Array) => void | Promise<void>): Promise<void> {
    const { body } = this.#response;
    const length = body === null ? null : knownLength(this.#response.headers);
    if (length === null || length > AT_ONCE_BYTES) return await pumped(body, take);
    const whole = await this.#response.arrayBuffer().catch(cutOff);
    await take(new Uint8Array(whole));
  }

  /** The runtime decodes gzip and br where a body is read. */
  get isReadable(): boolean {
    return ["identity", "gzip", "br", "deflate"].includes(this.#coding);
  }

  pumpDecoded(take: (chunk: Uint8Array) => void | Promise<void>): Promise<void> {
    const { body } = this.#response;
    return pumped(this.#coding === "deflate" && body !== null ? body.pipeThrough(new DecompressionStream("deflate")) : body, take);
  }

  get #coding(): string {
    return (this.header("content-encoding") ?? "identity").trim().toLowerCase();
  }

  discard(): void {
    void this.#response.body?.cancel();
  }
}
