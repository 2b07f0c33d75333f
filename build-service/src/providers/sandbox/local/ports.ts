import { firstFree, isFree, type PortRange, PUBLISHED_PORTS } from "../ports.ts";

/** Draws free ports of loopback. One that was drawn isn't drawn again by this process until it is given back. */
export class PortPool {
  readonly #range: PortRange;
  readonly #drawn = new Set<number>();

  constructor(range: PortRange = PUBLISHED_PORTS) {
    this.#range = range;
  }

  /** A free port, from a random place of the range on. Throws a UserError when all of them are taken. */
  draw(random: () => number = Math.random): Promise<number> {
    const take = async (port: number): Promise<number | null> => {
      if (this.#drawn.has(port)) return null;
      this.#drawn.add(port);
      if (await isFree(port)) return port;
      this.#drawn.delete(port);
      return null;
    };
    return firstFree(this.#range, take, random);
  }

  giveBack(port: number): void {
    this.#drawn.delete(port);
  }
}
