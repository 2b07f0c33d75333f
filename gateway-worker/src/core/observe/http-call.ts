import { Fault, type UpExchange, type UpRequest, type UpResponse } from "../seam.ts";
import type { Observer } from "./observer.ts";
import type { Attributes } from "./span.ts";

const SWITCHED = 101;

/** Methods by their own names; what else clients make up counts as one (OpenTelemetry, HTTP spans). */
const METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "TRACE"];

/**
 * Sends a request to a server, and watches it until the head of its answer if it is on behalf of one that is watched. Its path
 * isn't told of, which may hold what is nobody's business: where it goes is. Null: it has switched protocols.
 */
export function watchedExchange<Answer extends UpResponse | null>(
  observer: Observer | undefined,
  request: UpRequest,
  send: (request: UpRequest) => UpExchange<Answer>,
): UpExchange<Answer> {
  const watched = observer?.current();
  if (watched === undefined) return send(request);
  const method = knownMethod(request.method);
  const call = watched.call(method, { "http.request.method": method, ...serverAt(request.url) });
  const exchange = send({ ...request, headers: call.traced(request.headers) });
  const response = exchange.response.then(
    (answer) => {
      const status = answer?.status ?? SWITCHED;
      call.end({ "http.response.status_code": status }, status >= 400 ? String(status) : null);
      return answer;
    },
    (error: unknown) => {
      call.end({}, wordFor(error));
      throw error;
    },
  );
  return { response, abort: () => exchange.abort() };
}

/** A short word for why a request to a server came to nothing. */
export function wordFor(error: unknown): string {
  if (error instanceof Fault) return error.kind;
  return error instanceof Error ? error.name : typeof error;
}

/** The address that is asked. */
export function serverAt(url: string): Attributes {
  const { hostname, port, protocol } = new URL(url);
  return { "server.address": hostname, "server.port": port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) };
}

/** A request's method as spans may have it. */
export function knownMethod(method: string): string {
  return METHODS.includes(method) ? method : "_OTHER";
}
