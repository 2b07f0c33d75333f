import { randomInt } from "node:crypto";
import { createServer, type Server } from "node:net";
import { UserError } from "@agent-env/protocol";
import { PUBLISHED_PORTS } from "../local/ports.ts";

const TRIES = 200;

/** A port of 127.0.0.1 that nobody else can take until it is released, shortly before its server starts. */
export type HeldPort = { readonly port: number; release(): Promise<void> };

/** Draws a free loopback port and holds it. */
export async function holdPort(): Promise<HeldPort> {
  const { first, last } = PUBLISHED_PORTS;
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const port = randomInt(first, last + 1);
    const holder = await listen(port);
    if (holder !== null) return { port, release: () => close(holder) };
  }
  throw new UserError({
    what: `no free port on 127.0.0.1 from ${first} to ${last}`,
    why: `${TRIES} of them, drawn at random, were taken`,
    next: "agent-env gc",
  });
}

function listen(port: number): Promise<Server | null> {
  // A connection that is kept would keep the port.
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => (error.code === "EADDRINUSE" ? resolve(null) : reject(error)));
    server.listen(port, "127.0.0.1", () => resolve(server.unref()));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
