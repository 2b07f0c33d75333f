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
    const response = this.#response;
    response.writeHead(status, headers.flat());
    sendHead(response);
    return {
      write: (chunk) => {
        if (response.destroyed || response.write(chunk)) return undefined;
        return drained(response);
      },
      end: () => void response.end(),
      cut: () => void response.destroy(),
      get gone() {
        return response.destroyed || response.writableEnded;
      },
    };
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
 * Sends the head and a text at once. Node joins the head with a string, and writes both in the string's encoding: in UTF-8 that
 * would spoil header bytes above 0x7F, in Latin-1 it spoils nothing where the text is ASCII.
 */
export function endWithText(message: OutgoingMessage, text: string): void {
  if (Buffer.byteLength(text) === text.length) message.end(text, "latin1");
  else message.end(Buffer.from(text));
}

/** Sends the head at once. `flushHeaders()` would write it as UTF-8, and so change bytes above 0x7F. */
function sendHead(response: ServerResponse): void {
  response.write(NOTHING);
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
