import http from "node:http";
import https from "node:https";
import { pipeline } from "node:stream";

/** Fields that end at the next hop, and what is said anew (RFC 9110 §7.6.1). */
const NOT_PASSED = [
  "host",
  "authorization",
  "connection",
  "keep-alive",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

export type Forwarder = { readonly url: string; close(): Promise<void> };

/**
 * A port of this machine that passes every path on to `target` and says who asks, so that a script needs no token (5-run
 * §9.2). Browsers are refused: their pages could use it as well. WebSockets aren't passed on.
 */
export async function startForwarder(target: string, authorization: string): Promise<Forwarder> {
  const base = new URL(target);
  const client = base.protocol === "https:" ? https : http;
  const server = http.createServer((request, response) => {
    if (request.headers.origin !== undefined || request.headers["sec-fetch-site"] !== undefined) {
      response.writeHead(403, { "content-type": "application/json" }).end('{"error":"this port is for a verifier\'s script"}');
      return;
    }
    const sent = client.request(
      {
        host: base.hostname,
        port: base.port,
        method: request.method,
        path: `${base.pathname.replace(/\/$/, "")}${request.url}`,
        headers: [...passed(request.rawHeaders), "host", base.host, "authorization", authorization],
        agent: false,
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, passed(answer.rawHeaders));
        // whichever end breaks off, the other one is told so by the end of its connection
        pipeline(answer, response, () => undefined);
      },
    );
    sent.on("error", (error) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502, { "content-type": "application/json" }).end(JSON.stringify({ error: `${target}: ${error.message}` }));
    });
    response.on("close", () => sent.destroy());
    request.pipe(sent);
  });
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a server on a port has one");
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function passed(rawHeaders: readonly string[]): string[] {
  const fields: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (!NOT_PASSED.includes(name.toLowerCase())) fields.push(name, rawHeaders[at + 1] ?? "");
  }
  return fields;
}
