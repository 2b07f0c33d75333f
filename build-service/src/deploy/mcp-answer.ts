import { jsonOf } from "@agent-env/protocol";
import { z } from "zod";

const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "agent-env-probe", version: "1" } },
};

const Result = z.looseObject({ jsonrpc: z.literal("2.0"), result: z.looseObject({}) });

/** Whether something at `url` answers an `initialize`. The session that it opened is closed again. */
export async function answersMcp(url: string, signal: AbortSignal): Promise<boolean> {
  const response = await fetch(url, { method: "POST", headers: HEADERS, body: JSON.stringify(INITIALIZE), signal });
  const message = await firstMessage(response);
  const session = response.headers.get("mcp-session-id");
  if (session !== null) {
    const closed = await fetch(url, { method: "DELETE", headers: { ...HEADERS, "mcp-session-id": session }, signal });
    await closed.body?.cancel();
  }
  return Result.safeParse(message).success;
}

/** The first JSON-RPC message of an answer, from JSON or from an event stream that may stay open; undefined when there is none. */
async function firstMessage(response: Response): Promise<unknown> {
  let text = "";
  const decoder = new TextDecoder();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const event = isStream ? /^data: ?(.+)\r?\n/m.exec(text) : null;
    // Leaving the loop cancels the stream.
    if (event !== null) return jsonOf(event[1] ?? "");
  }
  return jsonOf(text);
}
