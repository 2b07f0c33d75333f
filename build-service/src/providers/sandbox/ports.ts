import { createServer } from "node:net";
import { UserError } from "@agent-env/protocol";

export type PortRange = { readonly first: number; readonly last: number };

/** Below what systems hand out by themselves, so a port that is free stays free until it is bound, as a rule. */
export const PUBLISHED_PORTS: PortRange = { first: 20_000, last: 29_999 };

/** A port of 127.0.0.1 that nobody else can take until it is released. */
export type HeldPort = { readonly port: number; release(): Promise<void> };

/** What `take` makes of the first port that it doesn't refuse with null, from a random place of the range on. */
export async function firstFree<T>(
  { first, last }: PortRange,
  take: (port: number) => Promise<T | null>,
  random: () => number = Math.random,
): Promise<T> {
  const count = last - first + 1;
  const start = Math.floor(random() * count);
  for (let offset = 0; offset < count; offset++) {
    const taken = await take(first + ((start + offset) % count));
    if (taken !== null) return taken;
  }
  throw new UserError({
    what: `no free port on 127.0.0.1 between ${first} and ${last}`,
    why: "each deployment publishes at least one there, and all of them are taken",
    next: "stop deployments: `agent-env env list`, `agent-env env stop <id>`; `agent-env gc` removes what is left over",
  });
}

/** Holds a port of loopback; null when this process can't listen there now. */
export function holdPort(port: number): Promise<HeldPort | null> {
  // A connection that is kept would keep the port.
  const server = createServer((socket) => socket.destroy());
  const release = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      if ("code" in error && (error.code === "EADDRINUSE" || error.code === "EACCES")) resolve(null);
      else reject(error);
    });
    server.listen({ host: "127.0.0.1", port, exclusive: true }, () => {
      server.unref();
      resolve({ port, release });
    });
  });
}

/** Whether this process could listen there now. */
export async function isFree(port: number): Promise<boolean> {
  const held = await holdPort(port);
  await held?.release();
  return held !== null;
}
