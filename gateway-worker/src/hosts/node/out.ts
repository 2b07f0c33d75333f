import type { OutgoingMessage, ServerResponse } from "node:http";
import { Fault, type Field, type Out, type Sink, type UpResponse } from "../../core/seam.ts";

const NOTHING = new Uint8Array(0);

/** An answer over `node:http`. */
export class NodeOut implements Out {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  reply(status: number, headers: readonly Field[], body?: string | Uint8Array): void {
    const length =
      body === undefined || headers.some(([name]) => name === "content-length") ? [] : ["content-length", String(Buffer.byteLength(body))];
    this.#response.writeHead(status, [...headers.flat(), ...length]);
    if (typeof body === "string") endWithText(this.#response, body);
    else this.#response.end(body);
  }

  stream(status: number, headers: readonly Field[]): Sink {
    this.#response.writeHead(status, headers.flat());
    return new NodeSink(this.#response);
  }

  async relay(status: number, headers: readonly Field[], from: UpResponse): Promise<void> {
    const sink = this.stream(status, headers);
    try {
      await from.pump((chunk) => sink.write(chunk));
      sink.end();
    } catch (error) {
      sink.cut();
      if (!(error instanceof Fault)) throw error;
    }
  }

  onGone(then: () => void): void {
    this.#response.on("close", () => {
      if (!this.#response.writableFinished) then();
    });
  }
}

/**
 * The body of an answer whose head is written. A class, since V8 gives every literal with a getter a hidden class of its own: in the
 * old generation, where it keeps all that the getter sees until a full collection.
 */
class NodeSink implements Sink {
  readonly #response: ServerResponse;
  /** The head alone, when no body has come with it. */
  readonly #head: NodeJS.Immediate;
  #isBegun = false;

  constructor(response: ServerResponse) {
    this.#response = response;
    this.#head = setImmediate(sendHead, response);
  }

  write(chunk: string | Uint8Array): void | Promise<void> {
    const response = this.#response;
    if (response.destroyed) return undefined;
    if (this.#isBegun) return response.write(chunk) ? undefined : drained(response);
    this.#isBegun = true;
    // a body that is there already begins in the packet of its head
    clearImmediate(this.#head);
    return response.write(bytesOf(chunk)) ? undefined : drained(response);
  }

  end(): void {
    this.#response.end();
  }

  cut(): void {
    this.#response.destroy();
  }

  get gone(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }
}

/**
 * Sends the head and a text at once. Node joins the head with a string, and writes both in the string's encoding: in UTF-8 that
 * would spoil header bytes above 0x7F, in Latin-1 it spoils nothing where the text is ASCII.
 */
export function endWithText(message: OutgoingMessage, text: string): void {
  if (Buffer.byteLength(text) === text.length) message.end(text, "latin1");
  else message.end(Buffer.from(text));
}

/** Sends a head that still waits for its body. `flushHeaders()` would write it as UTF-8, and so change bytes above 0x7F. */
function sendHead(response: ServerResponse): void {
  if (!response.destroyed && !response.writableEnded) response.write(NOTHING);
}

/** What can be sent with a head: Node would write both in the encoding of a text. */
function bytesOf(chunk: string | Uint8Array): Uint8Array {
  return typeof chunk === "string" ? Buffer.from(chunk) : chunk;
}

/** A client that left is no longer slow. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}
