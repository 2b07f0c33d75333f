import type { Server } from "node:http";
import { AuthorError } from "./author-error.ts";

/** Where a server listens. */
export type Place = { readonly host: string; readonly port: number };

const CLOSE_BUDGET_MS = 5_000;

/** The port in a variable. Throws an `AuthorError` if it holds something else. */
export function portFrom(variable: string, otherwise: number): number {
  const given = process.env[variable];
  if (given === undefined || given === "") return otherwise;
  const port = Number(given);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new AuthorError({
    what: `${variable}=${JSON.stringify(given)} is no port`,
    why: "a port is a whole number from 0 to 65535",
    next: `set it to ${otherwise}, or leave it out`,
    exitCode: 2,
  });
}

/** Takes no new connection, drops idle ones as they become so, and the others when the budget ends. */
export async function closeGracefully(server: Server): Promise<void> {
  const closed = Promise.withResolvers<void>();
  server.close(() => closed.resolve());
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const budget = setTimeout(() => {
    server.closeAllConnections();
    // An upgraded connection is no longer the server's to close.
    closed.resolve();
  }, CLOSE_BUDGET_MS);
  await closed.promise;
  clearInterval(idle);
  clearTimeout(budget);
}

/** The port that a server really has, once it listens. */
export function portOf(server: Server): number | undefined {
  const address = server.address();
  return typeof address === "object" ? address?.port : undefined;
}

/** Whether only this machine reaches what listens there. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\./.test(host);
}

/** A listening address as a client on this machine writes it. */
export function reachable(host: string): string {
  if (host === "0.0.0.0" || host === "::" || host === "") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

export function cantListen(name: string, { host, port }: Place, cause: NodeJS.ErrnoException): AuthorError {
  const taken = cause.code === "EADDRINUSE";
  return new AuthorError(
    {
      what: `${name} can't listen on ${host}:${port}`,
      why: taken ? "another process has that port" : (cause.code ?? cause.message),
      next: taken ? "end it, or set another port" : "set a host and port that this machine has",
      exitCode: 2,
    },
    // Who has the port, the system doesn't say: its own words add nothing.
    taken ? {} : { cause },
  );
}
