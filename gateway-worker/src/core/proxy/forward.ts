import { bodyNotSent, type GatewayError, upgradeWithBody } from "@agent-env/protocol";
import { watchedExchange } from "../observe/http-call.ts";
import { Fault, type Field, type Host, type In, type Out, type UpRequest, type UpResponse } from "../seam.ts";

const SWITCHED = 101;

/** One request to one server, and how its answer is shown to the client. */
export type Forward = {
  readonly request: UpRequest;
  readonly outward: (fields: readonly Field[]) => Field[];
  readonly failed: (fault: Fault) => GatewayError;
  /** Told of the answer's status before it is passed on, and may hold it back. */
  readonly answered?: (status: number) => Promise<void> | undefined;
  /** Passes the answer to the client in another way than as it is. */
  readonly show?: (response: UpResponse, fields: readonly Field[]) => Promise<void>;
};

/** Whether a request asks for a WebSocket: by GET alone (RFC 6455 §4.1). Any other offer to upgrade is ignored (RFC 9110 §7.8). */
export function asksForWebSocket(method: string, upgrade: string | undefined): boolean {
  return method === "GET" && upgrade?.trim().toLowerCase() === "websocket";
}

/** Passes a request on and streams the answer back, both at the slower peer's pace. */
export async function forward(host: Host, client: In, answer: Out, what: Forward): Promise<void> {
  if (client.wantsUpgrade && client.hasBody) return replyError(client, answer, upgradeWithBody());
  const { method, body } = what.request;
  if (body !== null && host.bodiless?.has(method) === true) return replyError(client, answer, bodyNotSent(method));
  const exchange = watchedExchange<UpResponse | null>(host.observer, what.request, (request) =>
    client.wantsUpgrade ? host.upgrade(request, client, what.outward) : host.upstream(request),
  );
  let gone = false;
  answer.onGone(() => {
    gone = true;
    exchange.abort();
  });
  const response = await settled<UpResponse | null>(exchange.response);
  if (response instanceof Fault) {
    if (!gone) replyError(client, answer, what.failed(response));
    return;
  }
  const held = what.answered?.(response?.status ?? SWITCHED);
  if (held !== undefined) await held;
  if (response === null) return;
  const fields = what.outward(response.headers());
  await (what.show?.(response, fields) ?? answer.relay(response.status, fields, response));
}

/** The outcome, or the fault that ended it. Anything else that is thrown is a bug, and stays thrown. */
async function settled<T>(outcome: Promise<T>): Promise<T | Fault> {
  try {
    return await outcome;
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

/** An error of the gateway's own: as HTML where a browser navigates, else as JSON. */
export function replyError(client: In, answer: Out, error: GatewayError, more: readonly Field[] = []): void {
  const html = client.header("sec-fetch-mode") === "navigate" || (client.header("accept") ?? "").startsWith("text/html");
  const body = html ? page(error) : JSON.stringify(error.body);
  const type = html ? "text/html; charset=utf-8" : "application/json";
  const fields: Field[] = [
    ["content-type", type],
    ["content-length", String(new TextEncoder().encode(body).length)],
    ...error.headers,
    ...more,
  ];
  answer.reply(error.status, fields, client.method === "HEAD" ? undefined : body);
}

function page(error: GatewayError): string {
  const text = `${error.status}: ${error.body.error}`.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
  return `<!doctype html><meta charset="utf-8"><title>${text}</title><p>${text}</p>\n`;
}
