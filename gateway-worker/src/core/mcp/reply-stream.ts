import { isJsonObject, type JsonObject, receivedJson } from "@agent-env/protocol";
import { Fault, type UpExchange, type UpResponse } from "../seam.ts";
import { pause, Timer } from "../timing.ts";
import { BadAnswer } from "./bad-answer.ts";
import { checkedReply } from "./checked-reply.ts";
import type { Deadline } from "./deadline.ts";
import { SseReader } from "./sse.ts";

/** A server may keep a stream open after the reply; then it is closed for it. */
const AFTER_REPLY_MS = 1_000;
const MAX_RESUMES = 5;
const RETRY_MS = 1_000;

export type StreamedReply = {
  readonly id: unknown;
  readonly maxBytes: number;
  readonly heard: (message: JsonObject) => void | Promise<void>;
  readonly paused: ((retryMs: number | undefined) => void) | undefined;
  readonly deadline: Deadline;
  /** Asks for what came after an event. */
  readonly resume: (lastEventId: string) => UpExchange;
};

/**
 * The reply in a stream, as soon as it is there. What is left is read on, so that the connection can be used again. A stream
 * that ends early after an event with an id is taken up again behind that event.
 */
export async function replyInStream(first: UpResponse, asked: StreamedReply): Promise<JsonObject> {
  const reader = new SseReader(asked.maxBytes);
  let response = first;
  for (let resumes = 0; ; resumes++) {
    const reply = await asked.deadline.orEnd(replyIn(response, reader, asked));
    if (reply !== null) return reply;
    const { lastId } = reader;
    if (lastId === undefined || resumes === MAX_RESUMES) throw new Fault("reset", "the stream ended before the reply");
    asked.paused?.(reader.retryMs);
    await asked.deadline.orEnd(pause(reader.retryMs ?? RETRY_MS));
    response = await resumed(asked, lastId);
  }
}

async function resumed(asked: StreamedReply, lastId: string): Promise<UpResponse> {
  const exchange = asked.resume(lastId);
  asked.deadline.abort = exchange.abort;
  const response = await asked.deadline.orEnd(exchange.response);
  if (response.status === 200) return response;
  response.discard();
  throw new Fault("reset", `the stream ended before the reply, and HTTP ${response.status} for the rest`);
}

/** Null: it ended without the reply. */
function replyIn(response: UpResponse, reader: SseReader, asked: StreamedReply): Promise<JsonObject | null> {
  const { promise, resolve, reject } = Promise.withResolvers<JsonObject | null>();
  const { abort } = asked.deadline;
  const grace = new Timer();
  let isReplied = false;
  const take = (chunk: Uint8Array): void | Promise<void> => {
    const slow: Promise<void>[] = [];
    for (const { data } of reader.push(chunk)) {
      // what a server says behind its reply is nobody's business
      if (isReplied) continue;
      asked.deadline.sign();
      // an event without data only gives the stream its first id
      if (data === "") continue;
      const read = receivedJson(data);
      if ("problem" in read) throw new BadAnswer(`an event of its answer is ${read.problem}`);
      const message = read.value;
      if (!isJsonObject(message)) throw new BadAnswer("an event of its answer is no JSON object");
      if (typeof message["method"] === "string") {
        const hearing = asked.heard(message);
        if (hearing !== undefined) slow.push(hearing);
      } else if (message["id"] === asked.id) {
        const reply = checkedReply(message, asked.id);
        isReplied = true;
        grace.set(AFTER_REPLY_MS, abort);
        resolve(reply);
      }
    }
    return slow.length === 0 ? undefined : Promise.all(slow).then(() => undefined);
  };
  response.pump(take).then(
    () => {
      grace.stop();
      resolve(null);
    },
    (error: unknown) => {
      grace.stop();
      if (error instanceof Fault && error.kind === "reset" && reader.lastId !== undefined) return resolve(null);
      abort();
      reject(error);
    },
  );
  return promise;
}
