import { connect } from "cloudflare:sockets";
import { Fault } from "../../core/seam.ts";

const CONNECT_MS = 10_000;

/**
 * Tells a server that surely wasn't reached from one that broke off: `fetch` has one word for both (`Network connection
 * lost`).
 */
export interface Doors {
  /** Throws a `Fault` of kind `refused` when the server isn't there. */
  knock(url: string): Promise<void>;
  /** What a failed `fetch` means. */
  faultOf(url: string, error: unknown): Promise<Fault>;
}

/**
 * For an object that lives on: one idle socket per server in use. While it is open the server is there; once it has closed,
 * the next request asks a socket first.
 */
export class HeldDoors implements Doors {
  readonly #open = new Map<string, Socket>();

  async knock(url: string): Promise<void> {
    const address = addressOf(url);
    if (this.#open.has(address)) return;
    const socket = await opened(address);
    this.#open.set(address, socket);
    const forget = (): void => {
      if (this.#open.get(address) === socket) this.#open.delete(address);
    };
    socket.closed.then(forget, forget);
    socket.readable.getReader().read().then(forget, forget);
  }

  async faultOf(_url: string, error: unknown): Promise<Fault> {
    return lost(error);
  }
}

/** For a Worker's own requests, which are never sent again: a socket is asked only after a failure, for the right words. */
export const passingDoors: Doors = {
  knock: async () => undefined,
  faultOf: async (url, error) => {
    if (error instanceof Fault) return error;
    try {
      const socket = await opened(addressOf(url));
      await socket.close();
    } catch (refused) {
      if (refused instanceof Fault) return refused;
      throw refused;
    }
    return lost(error);
  },
};

function lost(error: unknown): Fault {
  return error instanceof Fault ? error : new Fault("reset", "connection lost", { cause: error });
}

function addressOf(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`;
}

async function opened(address: string): Promise<Socket> {
  const socket = connect(address);
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("no connection within 10s")), CONNECT_MS);
  try {
    await Promise.race([socket.opened, late.promise]);
    return socket;
  } catch (error) {
    socket.close().catch(() => undefined);
    throw new Fault("refused", "connection refused", { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
