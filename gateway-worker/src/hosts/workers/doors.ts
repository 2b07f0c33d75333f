import { connect } from "cloudflare:sockets";
import { Fault } from "../../core/seam.ts";
import { Timer } from "../../core/timing.ts";

const CONNECT_MS = 10_000;
/** An open socket keeps the object in memory, so one that nobody needs is closed. */
const UNUSED_MS = 5_000;

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
  readonly #open = new Map<string, { readonly socket: Socket; readonly unused: Timer }>();

  async knock(url: string): Promise<void> {
    const address = addressOf(url);
    const held = this.#open.get(address);
    if (held !== undefined) return this.#keep(held);
    const socket = await opened(address);
    const door = { socket, unused: new Timer() };
    this.#open.set(address, door);
    this.#keep(door);
    const forget = (): void => {
      door.unused.stop();
      if (this.#open.get(address) === door) this.#open.delete(address);
    };
    socket.closed.then(forget, forget);
    socket.readable.getReader().read().then(forget, forget);
  }

  async faultOf(_url: string, error: unknown): Promise<Fault> {
    return lost(error);
  }

  #keep({ socket, unused }: { socket: Socket; unused: Timer }): void {
    unused.set(UNUSED_MS, () => void socket.close().catch(() => undefined));
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
