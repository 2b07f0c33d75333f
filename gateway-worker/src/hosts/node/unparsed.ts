import { type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { brokenBody, type GatewayError, headersTooLarge, headTooSlow, notHttp } from "@agent-env/protocol";

export type UnparsedLimits = { readonly maxHeaderBytes: number; readonly headMs: number };

/**
 * Answers what Node's parser refuses, in the gateway's words: Node itself would send a status alone. An answer that has begun
 * is cut instead, as what follows its head would be taken for its body.
 */
export function answerUnparsed(server: Server, limits: UnparsedLimits): void {
  /** By connection, the last answer on it. */
  const answers = new WeakMap<Duplex, ServerResponse>();
  server.prependListener("request", (request, response) => answers.set(request.socket, response));
  server.on("clientError", (error, socket) => {
    const answer = answers.get(socket);
    const hasBegun = answer?.headersSent && !answer.writableFinished;
    if (!socket.writable || hasBegun) return void socket.destroy();
    const isBody = answer !== undefined && !answer.req.complete;
    const { status, body } = errorFor("code" in error ? error.code : undefined, isBody, limits);
    const text = JSON.stringify(body);
    const fields = ["content-type: application/json", `content-length: ${Buffer.byteLength(text)}`, "connection: close"];
    const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...fields].join("\r\n");
    socket.end(`${head}\r\n\r\n${text}`, () => socket.destroy());
  });
}

function errorFor(code: unknown, isBody: boolean, { maxHeaderBytes, headMs }: UnparsedLimits): GatewayError {
  if (code === "HPE_HEADER_OVERFLOW") return headersTooLarge(maxHeaderBytes);
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return headTooSlow(headMs);
  return isBody ? brokenBody() : notHttp();
}
