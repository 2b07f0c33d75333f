import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import { concatenated } from "../../core/body.ts";
import { BODY_SILENCE_MS } from "../../core/client-fault.ts";
import { firstValue } from "../../core/fields.ts";
import { asksForWebSocket } from "../../core/proxy/forward.ts";
import { ClientFault, Fault, type Field, type In } from "../../core/seam.ts";

/** A request that came in over `node:http`. */
export class NodeIn implements In {
  readonly message: IncomingMessage;
  readonly method: string;
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly path: string | null;
  readonly base = "";
  readonly pageBase = "";
  readonly door: In["door"];
  readonly sharesOrigin = false;
  readonly peer: string | undefined;
  readonly hasBody: boolean;
  readonly wantsUpgrade: boolean;
  readonly #fields: readonly Field[];

  constructor(message: IncomingMessage, door: In["door"] = "callers") {
    const target = parsedTarget(message.url ?? "/");
    this.message = message;
    this.door = door;
    this.method = message.method ?? "GET";
    this.scheme = (message.socket as Partial<TLSSocket>).encrypted === true ? "https" : "http";
    this.host = target?.host ?? message.headers.host ?? "";
    this.path = target?.path ?? null;
    this.peer = message.socket.remoteAddress;
    this.hasBody = hasBody(message);
    this.wantsUpgrade = wantsUpgrade(message);
    this.#fields = fieldsOf(message.rawHeaders);
  }

  header(name: string): string | undefined {
    return firstValue(this.#fields, name);
  }

  headers(): readonly Field[] {
    return this.#fields;
  }

  bytes(limit: number): Promise<Uint8Array | null> {
    return new Promise((resolve, reject) => {
      const chunks: Uint8Array[] = [];
      let size = 0;
      const silence = setTimeout(() => reject(new ClientFault("slow")), BODY_SILENCE_MS);
      const take = (chunk: Uint8Array): void => {
        silence.refresh();
        size += chunk.length;
        if (size <= limit) return void chunks.push(chunk);
        // the rest is read and dropped: a client that is still sending would else not see the answer
        this.message.off("data", take);
        this.message.resume();
        resolve(null);
      };
      this.message.on("data", take);
      this.message.on("end", () => resolve(concatenated(chunks, size)));
      this.message.on("close", () => {
        clearTimeout(silence);
        if (!this.message.complete) reject(new ClientFault("left"));
      });
    });
  }

  pump(take: (chunk: Uint8Array) => void | Promise<void>): Promise<void> {
    return pumped(this.message, take);
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

function wantsUpgrade({ method = "", headers }: IncomingMessage): boolean {
  const options = (headers.connection ?? "").toLowerCase().split(",");
  return asksForWebSocket(method, headers.upgrade) && options.some((option) => option.trim() === "upgrade");
}

/** Whether a request is taken from its connection as an upgrade. One with a body stays a message, so that its end is known. */
export function isUpgrade(message: IncomingMessage): boolean {
  return wantsUpgrade(message) && !hasBody(message);
}

/** Header fields as Node keeps them raw, with names in lower case. */
export function fieldsOf(raw: readonly string[]): Field[] {
  const fields: Field[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) fields.push([(raw[at] ?? "").toLowerCase(), raw[at + 1] ?? ""]);
  return fields;
}

/**
 * Gives every chunk of a message to `take`, which holds back the next one while its promise is open. `pause()` doesn't hold
 * back `end`, so the end waits for the last chunk. Once it has failed it is given nothing more.
 */
export function pumped(message: IncomingMessage, take: (chunk: Uint8Array) => void | Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    let pending: Promise<void> = Promise.resolve();
    const fail = (error: unknown): void => {
      // one packet may hold several chunks, and the parser gives all of them at once, also behind the end
      message.off("data", give);
      message.destroy();
      reject(error);
    };
    const give = (chunk: Uint8Array): void => {
      try {
        const slow = take(chunk);
        if (slow === undefined) return;
        message.pause();
        pending = slow.then(() => void message.resume());
        pending.catch(fail);
      } catch (error) {
        fail(error);
      }
    };
    message.on("data", give);
    message.on("end", () => pending.then(resolve, fail));
    message.on("error", () => reject(new Fault("reset", "the connection was cut")));
    message.on("close", () => {
      if (!message.complete) reject(new Fault("reset", "the connection was cut"));
    });
  });
}

/** A path that the URL parser leaves as it is: no segment begins with a dot, and nothing is escaped. */
const PLAIN_PATH = /^(?:\/(?:[\w-][\w.-]*)?)+$/;

/**
 * A request target as the WHATWG URL parser reads it: what is checked is what is sent on. The host is there only where the
 * target is an absolute URL, which then counts in place of `Host` (RFC 9112 §3.2.2). Bytes above 0x7F are escaped as they are.
 */
export function parsedTarget(target: string): { path: string; host: string | undefined } | null {
  if (PLAIN_PATH.test(target)) return { path: target, host: undefined };
  const ascii = target.replace(/[\u0080-\u00ff]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const isPath = ascii.startsWith("/");
  if (!isPath && !/^https?:\/\//i.test(ascii)) return null;
  const url = URL.parse(isPath ? `http://target.invalid${ascii}` : ascii);
  if (url === null || url.username !== "" || url.password !== "") return null;
  url.hash = "";
  return { path: url.href.slice(url.origin.length), host: isPath ? undefined : url.host };
}
