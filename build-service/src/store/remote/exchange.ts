import { UserError } from "@agent-env/protocol";
import { withRetry } from "../retry.ts";
import type { RemoteTiming } from "./timing.ts";

export type RemoteRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body?: Uint8Array<ArrayBuffer> | string | undefined;
};
export type RemoteAnswer = { readonly status: number; readonly headers: Headers; readonly body: Uint8Array };

/** Sends what `build` gives, again and again while the fault is one that passes. `target` and `what` are for the message. */
export type Exchange = (call: Call) => Promise<{ readonly answer: RemoteAnswer; readonly earlierTries: number }>;
export type Call = {
  /** As messages name it: `R2 bucket "b" of account a`. */
  readonly target: string;
  /** `GET records/env/x/1.json`. */
  readonly what: string;
  /** What 409 means: R2's S3 API says it to writers of one key at one moment, the REST API to who makes what is there already. */
  readonly conflict: "passes" | "answer";
  /** Asked for each try, since a signature has a time in it. */
  readonly build: () => Promise<RemoteRequest>;
};

/** A fault that may have passed by the next try; what was sent may have had its effect all the same. */
class Transient extends Error {
  readonly retryAfterMs: number;
  constructor(message: string, retryAfterMs = 0, options?: ErrorOptions) {
    super(message, options);
    this.retryAfterMs = retryAfterMs;
  }
}

const AT_ONCE = 16;

/**
 * Everything sent goes through here: at most 16 at once, each try with a limit on silence, 408, 429, 5xx and a passing 409 tried again
 * with growing pauses. Any other answer is the caller's to read. Throws a UserError when no try was answered.
 *
 * Only for requests that may be sent twice: reads, removals, and writes that are idempotent or carry a condition.
 */
export function exchangeWith(timing: RemoteTiming): Exchange {
  const inTurn = gate(AT_ONCE);
  return async ({ target, what, conflict, build }) => {
    let tries = 0;
    try {
      return await withRetry(
        {
          ...timing,
          isRetryable: (error) => error instanceof Transient && error.retryAfterMs <= timing.longestRetryAfterMs,
          leastPauseMs: (error) => (error instanceof Transient ? error.retryAfterMs : 0),
        },
        (earlierTries) =>
          inTurn(async () => {
            tries++;
            return { answer: await send(await build(), timing, conflict), earlierTries };
          }),
      );
    } catch (error) {
      if (!(error instanceof Transient)) throw error;
      throw new UserError(
        {
          what: `${target}: ${what} failed ${tries === 1 ? "once" : `${tries} times`}`,
          why: `the last time: ${error.message}${error.retryAfterMs === 0 ? "" : `, and asked to wait for ${Math.ceil(error.retryAfterMs / 1000)} s`}`,
          next: "look at your network and at https://www.cloudflarestatus.com, then run the command again, which goes on from there",
        },
        { cause: error },
      );
    }
  };
}

async function send(request: RemoteRequest, timing: RemoteTiming, conflict: Call["conflict"]): Promise<RemoteAnswer> {
  const silence = silenceLimit(timing.silenceMs);
  try {
    silence.allow(timing.silenceMs + (request.body?.length ?? 0) / timing.uploadBytesPerMs);
    const { method, url, headers, body } = request;
    const response = await fetch(url, {
      method,
      headers,
      signal: silence.signal,
      redirect: "error",
      ...(body === undefined ? {} : { body }),
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body ?? []) {
      silence.allow(timing.silenceMs);
      chunks.push(chunk);
    }
    if (isPassing(response.status, conflict)) throw new Transient(String(response.status), retryAfterMs(response.headers));
    return { status: response.status, headers: response.headers, body: Buffer.concat(chunks) };
  } catch (error) {
    if (error instanceof Transient) throw error;
    throw new Transient(networkReason(error), 0, { cause: error });
  } finally {
    silence.end();
  }
}

function silenceLimit(limitMs: number): { readonly signal: AbortSignal; allow(ms: number): void; end(): void } {
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  return {
    signal: stop.signal,
    allow(ms) {
      clearTimeout(timer);
      timer = setTimeout(() => stop.abort(new Transient(`nothing was heard for ${limitMs / 1000} s`)), ms);
    },
    end: () => clearTimeout(timer),
  };
}

const isPassing = (status: number, conflict: Call["conflict"]): boolean =>
  status === 408 || (status === 409 && conflict === "passes") || status === 429 || status >= 500;

/** Seconds, or a date (RFC 9110 §10.2.3). */
function retryAfterMs(headers: Headers): number {
  const value = headers.get("retry-after");
  if (value === null) return 0;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}

/** `fetch` says "fetch failed" and keeps the reason, sometimes several, in its cause. */
function networkReason(error: unknown): string {
  let inner = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  if (inner instanceof AggregateError && inner.errors[0] instanceof Error) inner = inner.errors[0];
  return inner instanceof Error ? inner.message : String(inner);
}

/** Lets at most so many run at a time, in their order. */
function gate(atOnce: number): <T>(run: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (run) => {
    if (running < atOnce) running++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
