import http from "node:http";
import https from "node:https";
import { joined } from "@agent-env/protocol";
import { failureReason } from "../deploy/failure-reason.ts";

/** A server that is up answers a small request within this. */
export const ANSWER_MS = 15_000;
/** Data may take its time: loading a large seed isn't what is checked. */
export const DATA_MS = 120_000;
const MAX_BODY_BYTES = 16_777_216;

export type Ask = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is when it is text, else as JSON. */
  readonly body?: unknown;
  readonly timeoutMs?: number;
  /** Whether what has come so far will do: the rest of a stream is then left. */
  readonly enough?: (text: string, type: string) => boolean;
};

/** A request as it went out, without what says who asks. */
export type Sent = {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
};

/** A request and its answer. */
export type Exchange = {
  readonly sent: Sent;
  readonly status: number;
  readonly text: string;
  /** The media type in lower case, without parameters; empty where the answer names none. */
  readonly type: string;
  header(name: string): string | undefined;
  /** Every value of a field that may be there several times. */
  all(name: string): readonly string[];
};

/** A request that got no answer, or none that could be read. */
export class NoAnswer extends Error {
  readonly sent: Sent;

  constructor(sent: Sent, reason: string) {
    super(reason);
    this.name = "NoAnswer";
    this.sent = sent;
  }
}

/**
 * Asks below one base address, and nowhere else: no redirect is followed. Paths go out as they are given, in any spelling.
 * Times and bodies are bounded.
 */
export class Http {
  /** Without a trailing `/`. */
  readonly base: string;
  /** Aborted when nothing is to be asked any more. */
  readonly signal: AbortSignal;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(base: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) {
    const { origin, pathname } = new URL(base);
    this.base = `${origin}${pathname.replace(/\/$/, "")}`;
    this.signal = signal;
    this.#headers = headers;
  }

  /** The same for another address of the same origin. */
  at(base: string): Http {
    if (new URL(base).origin !== new URL(this.base).origin) throw new Error(`${base} is on another origin than ${this.base}`);
    return new Http(base, this.#headers, this.signal);
  }

  /** Asks for a path below the base. Throws `NoAnswer`, and the signal's reason once that is aborted. */
  async ask(path: string, ask: Ask = {}): Promise<Exchange> {
    const { origin, protocol } = new URL(this.base);
    const target = joined(this.base, path).slice(origin.length);
    const body = ask.body === undefined ? null : typeof ask.body === "string" ? ask.body : JSON.stringify(ask.body);
    const headers = { ...(body === null ? {} : { "content-type": "application/json" }), ...ask.headers };
    const sent: Sent = { method: ask.method ?? "GET", target, headers, body };
    const timeoutMs = ask.timeoutMs ?? ANSWER_MS;
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([this.signal, timeout]);
    try {
      return await exchange(protocol === "https:" ? https : http, origin, { sent, more: this.#headers, signal, enough: ask.enough });
    } catch (error) {
      this.signal.throwIfAborted();
      if (error instanceof NoAnswer) throw error;
      throw new NoAnswer(sent, timeout.aborted ? `no answer within ${timeoutMs / 1000} s` : failureReason(error));
    }
  }

  /** Posts JSON, or a text as it is. */
  post(path: string, body: unknown, ask: Omit<Ask, "body"> = {}): Promise<Exchange> {
    return this.ask(path, { ...ask, method: ask.method ?? "POST", body });
  }
}

type Call = {
  readonly sent: Sent;
  /** Fields that aren't shown. */
  readonly more: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly enough: Ask["enough"];
};

function exchange(client: typeof http | typeof https, origin: string, { sent, more, signal, enough }: Call): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const { method, target, body } = sent;
    const length = body === null ? {} : { "content-length": String(new TextEncoder().encode(body).length) };
    const request = client.request(
      {
        hostname: hostname.replace(/^\[|\]$/g, ""),
        port,
        method,
        path: target,
        agent: false,
        signal,
        headers: { ...more, ...length, ...sent.headers },
      },
      (answer) => {
        const decoder = new TextDecoder();
        const type = (answer.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
        let text = "";
        let size = 0;
        const end = () => resolve(exchangeOf(sent, answer, type, withoutSecrets(text, more)));
        answer.on("data", (chunk: Uint8Array) => {
          size += chunk.length;
          text += decoder.decode(chunk, { stream: true });
          if (size > MAX_BODY_BYTES) {
            reject(new NoAnswer(sent, `HTTP ${answer.statusCode} with more than ${MAX_BODY_BYTES} bytes`));
            answer.destroy();
          } else if (enough?.(text, type)) {
            end();
            answer.destroy();
          }
        });
        answer.on("end", end);
        answer.on("error", reject);
      },
    );
    request.on("error", reject);
    request.end(body ?? undefined);
  });
}

/** A text that a server answers with, which may repeat what it was sent. */
function withoutSecrets(text: string, headers: Readonly<Record<string, string>>): string {
  const secrets = Object.values(headers).map((value) => value.replace(/^Bearer /, ""));
  return secrets.filter((secret) => secret !== "").reduce((shown, secret) => shown.replaceAll(secret, "…"), text);
}

function exchangeOf(sent: Sent, answer: http.IncomingMessage, type: string, text: string): Exchange {
  const all = (name: string) => answer.headersDistinct[name.toLowerCase()] ?? [];
  return { sent, status: answer.statusCode ?? 0, text, type, all, header: (name) => all(name)[0] };
}
