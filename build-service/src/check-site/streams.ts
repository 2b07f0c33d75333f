import type { CDPSession } from "playwright-core";
import type { Quiet } from "./quiet.ts";

/** How long after its head, or its handshake, a stream's first message is waited for. */
const FIRST_MESSAGE_MS = 1_000;

/**
 * Tells `quiet` of a page's event streams and WebSockets, which stay open. They are on their way until their first message,
 * which the page may show; until none has come for a moment; or until they fail or close.
 */
export function hearStreams(session: CDPSession, quiet: Quiet): void {
  const moments = new Map<string, NodeJS.Timeout>();
  const ended = ({ requestId }: { readonly requestId: string }): void => {
    clearTimeout(moments.get(requestId));
    moments.delete(requestId);
    quiet.ended(requestId);
  };
  const opened = ({ requestId }: { readonly requestId: string }): void => {
    moments.set(requestId, setTimeout(ended, FIRST_MESSAGE_MS, { requestId }).unref());
  };
  session.on("Network.requestWillBeSent", ({ requestId, type }) => {
    if (type === "EventSource") quiet.began(requestId);
  });
  session.on("Network.responseReceived", ({ requestId, type }) => {
    if (type === "EventSource") opened({ requestId });
  });
  session.on("Network.webSocketCreated", ({ requestId }) => quiet.began(requestId));
  session.on("Network.webSocketHandshakeResponseReceived", opened);
  for (const message of ["Network.eventSourceMessageReceived", "Network.webSocketFrameReceived"] as const) session.on(message, ended);
  for (const end of ["Network.loadingFinished", "Network.loadingFailed", "Network.webSocketClosed"] as const) session.on(end, ended);
}
