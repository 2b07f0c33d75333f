import { once } from "node:events";
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { cantListen, closeGracefully, type Place, portOf, reachable } from "./place.ts";

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
  readonly fetch: Parameters<typeof getRequestListener>[0];
  /** Ends what would hold connections open for ever. */
  readonly closing: () => Promise<void>;
};

/** Listens until SIGTERM, SIGINT or `close()`. Throws an `AuthorError` if the port can't be had. */
export async function listen({ host, port }: Place, served: Served): Promise<Serving> {
  const server = createServer(getRequestListener(served.fetch, { overrideGlobalObjects: false }));
  // A large seed may take longer to arrive than Node allows a request.
  server.requestTimeout = 0;
  // Longer than the proxies in front keep a connection, so that none sends on one that is being closed.
  server.keepAliveTimeout = 75_000;
  server.listen(port, host);
  await once(server, "listening").catch((cause: NodeJS.ErrnoException) => {
    throw cantListen(served.name, { host, port }, cause);
  });
  const actual = portOf(server) ?? port;
  const url = `http://${reachable(host)}:${actual}`;
  console.error(`${served.name} listens on ${url}`);

  const close = async () => {
    process.off("SIGTERM", onSignal);
    process.off("SIGINT", onSignal);
    await served.closing();
    await closeGracefully(server);
  };
  const onSignal = () => void close().then(() => process.exit(0));
  process.once("SIGTERM", onSignal);
  process.once("SIGINT", onSignal);
  return { url, port: actual, close };
}
