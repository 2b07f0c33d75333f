import type { Server } from "node:http";
import { serve as serveNode } from "@hono/node-server";
import { cantListen, closeGracefully, type Place, reachable } from "./place.ts";

/** A server that listens. */
export type Serving = {
  /** `http://127.0.0.1:8000`, without a path. */
  readonly url: string;
  readonly port: number;
  /** Answers what is in flight, for at most five seconds, then closes. */
  close(): Promise<void>;
};

export type Served = {
  readonly name: string;
  readonly fetch: Parameters<typeof serveNode>[0]["fetch"];
  /** Ends what would hold connections open for ever. */
  readonly closing: () => void;
};

/** Listens until SIGTERM, SIGINT or `close()`. Throws a `UserError` if the port can't be had. */
export async function listen({ host, port }: Place, served: Served): Promise<Serving> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const server = serveNode({ fetch: served.fetch, hostname: host, port, overrideGlobalObjects: false }, (address) => resolve(address.port));
  server.on("error", (cause: NodeJS.ErrnoException) => reject(cantListen(served.name, { host, port }, cause)));
  const actual = await promise;
  const url = `http://${reachable(host)}:${actual}`;
  console.error(`${served.name} listens on ${url}`);

  const close = async () => {
    process.off("SIGTERM", onSignal);
    process.off("SIGINT", onSignal);
    served.closing();
    await closeGracefully(server as Server);
  };
  const onSignal = () => void close().then(() => process.exit(0));
  process.once("SIGTERM", onSignal);
  process.once("SIGINT", onSignal);
  return { url, port: actual, close };
}
