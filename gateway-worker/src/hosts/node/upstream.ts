import http from "node:http";
import https from "node:https";
import type { Duplex } from "node:stream";
import { firstValue } from "../../core/fields.ts";
import { Fault, type FaultKind, type Field, type UpExchange, type UpRequest, type UpResponse } from "../../core/seam.ts";
import { isFinalStatus, notAStatus } from "../final-status.ts";
import { isReadableCoding, pumpedDecoded } from "./decoded.ts";
import { fieldsOf, NodeIn, pumped } from "./in.ts";
import { endWithText } from "./out.ts";

const CONNECT_MS = 10_000;
/** Shorter than what servers commonly keep an idle connection for, so that none is used that is just being closed. */
const IDLE_SOCKET_MS = 4_000;

const agents = {
  "http:": new http.Agent({ keepAlive: true, timeout: IDLE_SOCKET_MS, scheduling: "lifo", maxFreeSockets: 1_024 }),
  "https:": new https.Agent({ keepAlive: true, timeout: IDLE_SOCKET_MS, scheduling: "lifo", maxFreeSockets: 1_024 }),
};

/** Sends one request to a server. */
export function upstream(request: UpRequest): UpExchange {
  const sent = clientRequest(request, { isShared: true });
  const response = answerTo<never>(sent, request.idleMs, () => new Fault("unknown", "it switched protocols unasked"));
  response.catch(() => undefined);
  sendBody(sent, request);
  return { response, abort: () => void sent.destroy(new Fault("unknown", "given up")) };
}

/**
 * The head of the answer, or what a switch of protocols comes to. A connection that was switched unasked is closed, as is one
 * whose status is none (RFC 9110 §15).
 */
export function answerTo<Switched>(
  sent: http.ClientRequest,
  idleMs: number,
  switched: (message: http.IncomingMessage, socket: Duplex, first: Buffer) => Switched | Fault,
): Promise<UpResponse | Switched> {
  return new Promise((resolve, reject) => {
    const refuse = (fault: Fault): void => {
      reject(fault);
      sent.destroy();
    };
    sent.on("response", (message) => {
      const { statusCode: status = 0 } = message;
      if (isFinalStatus(status)) resolve(new NodeUpResponse(message));
      else refuse(notAStatus(status));
    });
    // a switch to nothing: the parser goes on to wait for another answer
    sent.on("information", ({ statusCode }) => {
      if (statusCode === 101) refuse(new Fault("unknown", "it switched protocols without naming one"));
    });
    sent.on("upgrade", (message, socket, first) => {
      const outcome = switched(message, socket, first);
      if (!(outcome instanceof Fault)) return resolve(outcome);
      socket.destroy();
      reject(outcome);
    });
    sent.on("error", (error) => reject(faultOf(error)));
    watchTimes(sent, idleMs);
  });
}

/** A request on its way, with its head as it will be sent. `isShared`: its connection may serve others before and after. */
export function clientRequest(request: UpRequest, { isShared }: { isShared: boolean }): http.ClientRequest {
  const { isSecure, host, authority, port, path } = addressIn(request.url);
  const options = {
    agent: isShared && (isSecure ? agents["https:"] : agents["http:"]),
    host,
    port,
    method: request.method,
    path,
    headers: ["host", request.host ?? authority, ...withFraming(request).flat()],
    setDefaultHeaders: false,
  };
  return isSecure ? https.request(options) : http.request(options);
}

type Address = {
  readonly isSecure: boolean;
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly authority: string;
};
const MAX_ADDRESSES = 100;
/** Those asked for last: a server's MCP endpoint is asked for all the time. */
const addresses = new Map<string, Address>();

function addressIn(text: string): Address {
  const known = addresses.get(text);
  if (known !== undefined) return known;
  const url = new URL(text);
  const isSecure = url.protocol === "https:";
  const address = {
    isSecure,
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? (isSecure ? 443 : 80) : Number(url.port),
    path: url.href.slice(url.origin.length),
    authority: url.host,
  };
  if (addresses.size === MAX_ADDRESSES) addresses.clear();
  addresses.set(text, address);
  return address;
}

/**
 * The length says what is really sent. Where that isn't known the body is chunked; where there is none, methods that usually
 * have one say so. A client's own body is as long as its head says: the parser sees to that.
 */
function withFraming({ method, headers, body }: UpRequest): Field[] {
  const hasLength = headers.some(([name]) => name === "content-length");
  if (body instanceof NodeIn) return hasLength ? [...headers] : [...headers, ["transfer-encoding", "chunked"]];
  const kept = headers.filter(([name]) => name !== "content-length");
  if (typeof body === "string" || body instanceof Uint8Array) return [...kept, ["content-length", String(Buffer.byteLength(body))]];
  return hasLength || ["POST", "PUT", "PATCH"].includes(method) ? [...kept, ["content-length", "0"]] : kept;
}

function sendBody(sent: http.ClientRequest, { body, bodySeen }: UpRequest): void {
  if (body instanceof NodeIn) {
    if (bodySeen !== undefined) body.message.on("data", bodySeen);
    body.message.pipe(sent);
    body.message.on("close", () => {
      if (!body.message.complete) sent.destroy(new Fault("reset", "the client left"));
    });
  } else if (typeof body === "string") endWithText(sent, body);
  else if (body instanceof Uint8Array) sent.end(body);
  else sent.end();
}

/** Ends what can't connect within 10 s, or is silent for too long after. */
function watchTimes(sent: http.ClientRequest, idleMs: number): void {
  const watch = (): void => void sent.setTimeout(idleMs, () => sent.destroy(new Fault("timeout", `nothing came for ${idleMs / 1000}s`)));
  sent.on("socket", (socket) => {
    if (!socket.connecting) return watch();
    const connecting = setTimeout(() => sent.destroy(new Fault("refused", "no connection within 10s")), CONNECT_MS);
    socket.once("connect", () => {
      clearTimeout(connecting);
      watch();
    });
    sent.on("close", () => clearTimeout(connecting));
  });
}

/** An answer over `node:http`. */
export class NodeUpResponse implements UpResponse {
  readonly #message: http.IncomingMessage;
  readonly #fields: readonly Field[];

  constructor(message: http.IncomingMessage) {
    this.#message = message;
    this.#fields = fieldsOf(message.rawHeaders);
  }

  get status(): number {
    return this.#message.statusCode ?? 0;
  }

  header(name: string): string | undefined {
    return firstValue(this.#fields, name);
  }

  headers(): readonly Field[] {
    return this.#fields;
  }

  pump(take: (chunk: Uint8Array) => void | Promise<void>): Promise<void> {
    return pumped(this.#message, take);
  }

  get isReadable(): boolean {
    return isReadableCoding(this.header("content-encoding"));
  }

  pumpDecoded(take: (chunk: Uint8Array) => void | Promise<void>): Promise<void> {
    return pumpedDecoded(this.#message, this.header("content-encoding"), take);
  }

  discard(): void {
    this.#message.on("error", () => undefined);
    this.#message.resume();
  }
}

/** Codes of connections that were never made, so that nothing can have been sent. */
const NEVER_CONNECTED: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "name not found",
  EAI_AGAIN: "name not found",
  EHOSTUNREACH: "host unreachable",
  ENETUNREACH: "network unreachable",
};
const CUT: Readonly<Record<string, [FaultKind, string]>> = {
  ECONNRESET: ["reset", "connection reset"],
  EPIPE: ["reset", "connection reset"],
  ETIMEDOUT: ["timeout", "connection timed out"],
};

/** A failed exchange in the gateway's own words, by its code. */
export function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const refused = NEVER_CONNECTED[code];
  if (refused !== undefined) return new Fault("refused", refused, { cause: error });
  // the parser's own codes: HPE_INVALID_STATUS, HPE_HEADER_OVERFLOW, …
  if (code.startsWith("HPE_")) return new Fault("unknown", "its answer is no valid HTTP/1.1", { cause: error });
  const [kind, reason] = CUT[code] ?? ["unknown", code === "" ? "the exchange failed" : code];
  return new Fault(kind, reason, { cause: error });
}
