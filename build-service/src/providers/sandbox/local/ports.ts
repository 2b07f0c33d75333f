import { createServer } from "node:net";
import { UserError } from "@agent-env/protocol";

export type PortRange = { readonly first: number; readonly last: number };

/** Below what systems hand out by themselves, so a port that is free stays free until the container binds it, as a rule. */
export const PUBLISHED_PORTS: PortRange = { first: 20_000, last: 29_999 };

/** Draws free ports of loopback. One that was drawn isn't drawn again by this process until it is given back. */
export class PortPool {
  readonly #range: PortRange;
  readonly #drawn = new Set<number>();

  constructor(range: PortRange = PUBLISHED_PORTS) {
    this.#range = range;
  }

  /** A free port, from a random place of the range on. Throws a UserError when all of them are taken. */
  async draw(random: () => number = Math.random): Promise<number> {
    const { first, last } = this.#range;
    const count = last - first + 1;
    const start = Math.floor(random() * count);
    for (let offset = 0; offset < count; offset++) {
      const port = first + ((start + offset) % count);
      if (this.#drawn.has(port)) continue;
      this.#drawn.add(port);
      if (await isFree(port)) return port;
      this.#drawn.delete(port);
    }
    throw new UserError({
      what: `no free port on 127.0.0.1 between ${first} and ${last}`,
      why: "each deployment publishes at least one there, and all of them are taken",
      next: "stop deployments: `agent-env env list`, `agent-env env stop <id>`; `agent-env gc` removes what is left over",
    });
  }

  giveBack(port: number): void {
    this.#drawn.delete(port);
  }
}

/** Whether this process could listen there now. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error) => {
      if ("code" in error && (error.code === "EADDRINUSE" || error.code === "EACCES")) resolve(false);
      else reject(error);
    });
    server.listen({ host: "127.0.0.1", port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
