import { errorAnswer, INTERNAL_ERROR, isJsonObject, type JsonObject, messageEvent, receivedJson } from "@agent-env/protocol";
import { BodyTooLarge, textOf } from "../body.ts";
import { kindOf } from "../mcp/message.ts";
import { Fault, type Field, type Out, type UpResponse } from "../seam.ts";

/** A batch of which some messages were answered here. */
export type SplitBatch = {
  /** How the server is called in errors. */
  readonly server: string;
  readonly sent: readonly JsonObject[];
  readonly added: readonly JsonObject[];
  readonly maxBytes: number;
};

/** The answer to such a batch: the replies of here are added to the server's. What it should have answered and didn't gets an error. */
export function withAdded(answer: Out, batch: SplitBatch): Out {
  return {
    reply: (status, headers, body) => answer.reply(status, headers, body),
    stream: (status, headers) => answer.stream(status, headers),
    onGone: (then) => answer.onGone(then),
    relay: async (status, headers, from) => {
      if (![200, 202, 204].includes(status)) return await answer.relay(status, headers, from);
      if (isPlain(headers) && (typeIn(headers) ?? "").startsWith("text/event-stream"))
        return await relayEvents(answer, headers, from, batch.added);
      const replies = [...(await repliesIn(headers, from, batch)), ...batch.added];
      const fields = headers.filter(([name]) => !["content-type", "content-encoding", "content-length"].includes(name));
      answer.reply(200, [["content-type", "application/json"], ...fields], JSON.stringify(replies));
    },
  };
}

/** Ours go first: they are whole, whatever becomes of the server's stream. */
async function relayEvents(answer: Out, headers: readonly Field[], from: UpResponse, added: readonly JsonObject[]): Promise<void> {
  const sink = answer.stream(
    200,
    headers.filter(([name]) => name !== "content-length"),
  );
  try {
    for (const message of added) await sink.write(messageEvent(message));
    await from.pump((chunk) => sink.write(chunk));
    sink.end();
  } catch (error) {
    sink.cut();
    if (!(error instanceof Fault)) throw error;
  }
}

/** The server's replies, and an error for each request that has none among them. */
async function repliesIn(headers: readonly Field[], from: UpResponse, batch: SplitBatch): Promise<JsonObject[]> {
  const read = await readReplies(headers, from, batch.maxBytes);
  const replies = "problem" in read ? [] : read.replies;
  const why = "problem" in read ? read.problem : "it did not answer this request";
  const answered = new Set(replies.map((reply) => JSON.stringify(reply["id"])));
  const missing = batch.sent.filter((message) => kindOf(message) === "request" && !answered.has(JSON.stringify(message["id"])));
  return [...replies, ...missing.map(({ id }) => errorAnswer(id, INTERNAL_ERROR, `${batch.server}: ${why}`))];
}

async function readReplies(
  headers: readonly Field[],
  from: UpResponse,
  maxBytes: number,
): Promise<{ readonly replies: JsonObject[] } | { readonly problem: string }> {
  try {
    const text = (await textOf(from, maxBytes)).trim();
    if (text === "") return { replies: [] };
    // it was asked for none
    if (!isPlain(headers)) return { problem: "its answer is in a content coding" };
    const read = receivedJson(text);
    if ("problem" in read) return { problem: `its answer is ${read.problem}` };
    const replies = Array.isArray(read.value) ? read.value : [read.value];
    return replies.every(isJsonObject) ? { replies } : { problem: "its answer holds what is no JSON object" };
  } catch (error) {
    if (error instanceof BodyTooLarge) return { problem: `its answer is larger than ${maxBytes} bytes` };
    if (error instanceof Fault) return { problem: error.reason };
    throw error;
  }
}

function isPlain(headers: readonly Field[]): boolean {
  const coding = headers.find(([name]) => name === "content-encoding")?.[1];
  return coding === undefined || coding.trim().toLowerCase() === "identity";
}

function typeIn(headers: readonly Field[]): string | undefined {
  return headers.find(([name]) => name === "content-type")?.[1];
}
