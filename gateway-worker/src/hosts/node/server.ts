import http from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { Deployment } from "../../core/deployment/deployment.ts";
import { Gateway } from "../../core/gateway.ts";
import { createApp } from "../../routes/app.ts";
import { NodeIn } from "./in.ts";
import { NodeOut } from "./out.ts";
import { holdUpgrade } from "./upgrade.ts";

/** Above what the core refuses with 431 and 414, so that it is the core that says so. */
const MAX_HEADER_BYTES = 262_144;

/** The gateway's HTTP server. The hot paths go from `node:http` straight into the core, all others through the app. */
export function gatewayServer(deployment: Deployment): http.Server {
  const gateway = new Gateway(deployment);
  const app = getRequestListener(createApp(deployment).fetch);
  const server = http.createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    requestTimeout: 0,
    keepAliveTimeout: 65_000,
    // any other offer to upgrade is ignored, as RFC 9110 §7.8 allows: the request keeps its body
    shouldUpgradeCallback: (request) => request.headers.upgrade?.toLowerCase() === "websocket",
  });
  server.maxHeadersCount = 0;

  const serve = async (message: http.IncomingMessage, response: http.ServerResponse, isUpgrade: boolean): Promise<void> => {
    try {
      if (await gateway.handle(new NodeIn(message, isUpgrade), new NodeOut(response))) return;
      await app(message, response);
    } catch (error) {
      deployment.host.log(`bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      if (!response.headersSent) response.writeHead(500, { "content-type": "application/json" }).end('{"error":"internal error"}');
      else response.destroy();
    }
  };

  server.on("request", (message, response) => void serve(message, response, false));
  server.on("upgrade", (message, socket, head) => {
    socket.on("error", () => socket.destroy());
    holdUpgrade(message, socket, head);
    const response = new http.ServerResponse(message);
    response.shouldKeepAlive = false;
    response.assignSocket(message.socket);
    response.on("finish", () => message.socket.end());
    void serve(message, response, true);
  });
  return server;
}
