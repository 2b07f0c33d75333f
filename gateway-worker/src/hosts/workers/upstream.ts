import { Fault, type Field, type UpExchange, type UpRequest, type UpResponse } from "../../core/seam.ts";
import { isFinalStatus, notAStatus } from "../final-status.ts";
import type { Doors } from "./doors.ts";
import { fieldsIn, headersOf } from "./headers.ts";
import { AT_ONCE_BYTES, cutOff, knownLength, pumped, WorkersIn } from "./in-out.ts";

const CONNECT_AND_HEAD_MS = 3_600_000;

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
    if (error instanceof Fault) throw error;
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
  const body = request.body instanceof WorkersIn ? clientBody(request.body, request) : bodyOf(request.body);
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
    if (isLate) throw new Fault("timeout", `no answer within ${request.idleMs / 1000}s`, { cause: error });
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** A client's body on its way, with whoever wants to see it. Its length is kept where it is known. */
function clientBody({ request: { body } }: WorkersIn, { bodySeen, headers }: UpRequest): ReadableStream<Uint8Array> | null {
  if (body === null || bodySeen === undefined) return body;
  const seen = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        bodySeen(chunk);
        controller.enqueue(chunk);
      },
    }),
  );
  const length = headers.find(([name]) => name === "content-length")?.[1];
  return length === undefined ? seen : seen.pipeThrough(new FixedLengthStream(Number(length)));
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
