import http from "node:http";
import { severalHosts } from "@agent-env/protocol";
import { getRequestListener } from "@hono/node-server";
import { clientFaultError } from "../../core/client-fault.ts";
import { allValues } from "../../core/fields.ts";
import type { Gateway } from "../../core/gateway.ts";
import { replyError } from "../../core/proxy/forward.ts";
import { ClientFault, type Field, type In } from "../../core/seam.ts";
import type { Settings } from "../../core/settings.ts";
import { createApp } from "../../routes/app.ts";
import { bugLine } from "../bug.ts";
import { isUpgrade, NodeIn } from "./in.ts";
import { NodeOut } from "./out.ts";
import { answerUnparsed } from "./unparsed.ts";
import { holdUpgrade } from "./upgrade.ts";

/** How far above what the core refuses with 431 and 414 the parser goes, so that it is the core that says so. */
const HEADROOM_BYTES = 196_608;
const HEAD_MS = 60_000;
/** The longest that the gateway waits for a server by itself: loads of data (3-wire §data). */
const LONGEST_LOAD_MS = 3_600_000;
const MARGIN_MS = 60_000;
const CLOSE: readonly Field[] = [["connection", "close"]];

/**
 * The gateway's HTTP server, or, by the door `browser`, the one that serves sites alone. The hot paths go from `node:http` straight
 * into the core, all others through the app.
 */
export function gatewayServer(gateway: Gateway, door: In["door"] = "callers"): http.Server {
  const { deployment } = gateway;
  const app = createApp(gateway);
  const server = http.createServer({
    maxHeaderSize: deployment.settings.maxHeaderBytes + deployment.settings.maxUrlBytes + HEADROOM_BYTES,
    // an upload may last: it is silence that ends it. Without a limit of its own for the head, this would take that one away too
    requestTimeout: 0,
    headersTimeout: HEAD_MS,
    keepAliveTimeout: 65_000,
    shouldUpgradeCallback: isUpgrade,
  });
  server.timeout = clientIdleMs(deployment.settings);
  server.maxHeadersCount = 0;
  answerUnparsed(server, { maxHeaderBytes: deployment.settings.maxHeaderBytes, headMs: HEAD_MS });

  const serve = async (message: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    const request = new NodeIn(message, door);
    const answer = new NodeOut(response);
    try {
      if (allValues(request.headers(), "host").length > 1) return replyError(request, answer, severalHosts(), CLOSE);
      await gateway.handle(request, answer, (given) => getRequestListener((forApp) => app.fetch(forApp, given))(message, response));
    } catch (error) {
      if (error instanceof ClientFault) return replyError(request, answer, clientFaultError(error), CLOSE);
      deployment.host.log(bugLine(error));
      if (!response.headersSent) response.writeHead(500, { "content-type": "application/json" }).end('{"error":"internal error"}');
      else response.destroy();
    }
  };

  server.on("request", (message, response) => {
    // behind an upgrade that was not taken Node's parser tells of no fault: such a connection would wait for ever
    if (message.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    void serve(message, response);
  });
  server.on("upgrade", (message, socket, head) => {
    socket.on("error", () => socket.destroy());
    holdUpgrade(message, socket, head);
    const response = new http.ServerResponse(message);
    response.shouldKeepAlive = false;
    response.assignSocket(message.socket);
    response.on("finish", () => message.socket.destroySoon());
    void serve(message, response);
  });
  return server;
}

/** A client waits in silence for as long as a server may be silent, and then for the gateway's own words about it. */
function clientIdleMs({ proxyIdleMs, toolCallTimeoutMs, inputWaitMs }: Settings): number {
  return Math.max(LONGEST_LOAD_MS, proxyIdleMs, toolCallTimeoutMs, inputWaitMs) + MARGIN_MS;
}
