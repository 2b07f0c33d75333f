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

type Door = { readonly socket: Socket; readonly unused: Timer; usedMs: number };

/**
 * For an object that lives on: one idle socket per server in use. While it is open the server is there; once it has closed,
 * the next request asks a socket first.
 */
export class HeldDoors implements Doors {
  readonly #open = new Map<string, Door>();

  async knock(url: string): Promise<void> {
    const address = addressOf(url);
    const held = this.#open.get(address);
    if (held !== undefined) {
      held.usedMs = Date.now();
      return;
    }
    const socket = await opened(address);
    const door = { socket, unused: new Timer(), usedMs: Date.now() };
    this.#open.set(address, door);
    this.#closeUnused(door, UNUSED_MS);
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

  /** Looked at now and then: a timer set with every request would cost more than the door saves. */
  #closeUnused(door: Door, ms: number): void {
    door.unused.set(ms, () => {
      const leftMs = door.usedMs + UNUSED_MS - Date.now();
      if (leftMs > 0) this.#closeUnused(door, leftMs);
      else door.socket.close().catch(() => undefined);
    });
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
