import { type JsonObject, receivedJson, SESSION_HEADER, VERSION_HEADER } from "@agent-env/protocol";
import { BodyTooLarge, textOf } from "../body.ts";
import { mcpCall } from "../observe/mcp-call.ts";
import type { Field, Host, UpExchange, UpResponse } from "../seam.ts";
import { BadAnswer } from "./bad-answer.ts";
import type { Cancellation } from "./cancellation.ts";
import { checkedReply, isErrorAnswer } from "./checked-reply.ts";
import { Deadline, LONGEST_EXCHANGE_MS } from "./deadline.ts";
import { replyInStream } from "./reply-stream.ts";
import { EventTooLarge } from "./sse.ts";

const MAX_REDIRECTS = 3;

/** One message to a server's endpoint. */
export type Post = {
  readonly url: string;
  /** Its id tells the reply; a message without one gets none. */
  readonly message: JsonObject;
  readonly session: string | undefined;
  readonly version: string | undefined;
  readonly fields: readonly Field[];
  /** How long the server may send no message. */
  readonly silenceMs: number;
  readonly maxBytes: number;
  /** What the server says besides the reply. It says no more while a promise is open. */
  readonly heard: (message: JsonObject) => void | Promise<void>;
  /** It has ended its stream ahead of the reply, to be asked for the rest after so long. */
  readonly paused?: (retryMs: number | undefined) => void;
  readonly cancellation?: Cancellation;
};

/** What came back. `reply` is a JSON-RPC response, perhaps an error. */
export type Answered = {
  readonly status: number;
  readonly session: string | undefined;
  readonly reply: JsonObject | undefined;
  readonly isStream: boolean;
};

/** Posts one message and waits for its reply. Throws `Fault` and `BadAnswer`. */
export function exchange(host: Pick<Host, "upstream" | "observer">, post: Post): Promise<Answered> {
  const watched = host.observer?.current();
  return watched === undefined ? exchanged(host, post) : mcpCall(watched, post, (traced) => exchanged(host, traced));
}

async function exchanged(host: Pick<Host, "upstream">, post: Post): Promise<Answered> {
  const deadline = new Deadline(post.silenceMs, post.cancellation);
  try {
    let url = post.url;
    for (let redirects = 0; ; redirects++) {
      const headers: Field[] = [["content-type", "application/json"], ["accept", "application/json, text/event-stream"], ...fieldsOf(post)];
      const upstream = host.upstream({ method: "POST", url, headers, body: JSON.stringify(post.message), idleMs: LONGEST_EXCHANGE_MS });
      deadline.abort = upstream.abort;
      const response = await deadline.orEnd(upstream.response);
      const next = redirectOf(response, url);
      if (next === null) return await answerOf(host, { ...post, url }, response, deadline);
      response.discard();
      if (redirects === MAX_REDIRECTS) throw new BadAnswer(`redirected more than ${MAX_REDIRECTS} times`);
      url = next;
    }
  } finally {
    deadline.stop();
  }
}

function fieldsOf(post: Post): Field[] {
  const fields: Field[] = [["accept-encoding", "identity"], ...post.fields];
  if (post.session !== undefined) fields.push([SESSION_HEADER, post.session]);
  if (post.version !== undefined) fields.push([VERSION_HEADER, post.version]);
  return fields;
}

/** A redirect within the server's own origin; anything else is an answer. */
function redirectOf(response: UpResponse, from: string): string | null {
  if (response.status !== 307 && response.status !== 308) return null;
  const to = URL.parse(response.header("location") ?? "", from);
  if (to === null || to.origin !== new URL(from).origin) throw new BadAnswer(`HTTP ${response.status} to another origin`);
  return to.href;
}

async function answerOf(host: Pick<Host, "upstream">, post: Post, response: UpResponse, deadline: Deadline): Promise<Answered> {
  const { status } = response;
  const session = response.header(SESSION_HEADER);
  const type = (response.header("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
  const expectsReply = post.message["id"] !== undefined && typeof post.message["method"] === "string";
  if (status >= 200 && status < 300 && !expectsReply) {
    response.discard();
    return { status, session, reply: undefined, isStream: false };
  }
  if (status === 200 && type === "text/event-stream") {
    const { maxBytes, heard, paused } = post;
    const resume = (lastEventId: string) => resumption(host, post, lastEventId);
    const reply = await bounded(replyInStream(response, { id: post.message["id"], maxBytes, heard, paused, deadline, resume }), maxBytes);
    return { status, session, reply, isStream: true };
  }
  const text = await bounded(deadline.orEnd(textOf(response, post.maxBytes)), post.maxBytes);
  const read = receivedJson(text);
  if (status !== 200)
    return { status, session, reply: "value" in read && isErrorAnswer(read.value) ? read.value : undefined, isStream: false };
  if (type !== "application/json") throw new BadAnswer(`HTTP 200 ${type === "" ? "without a content type" : type}`);
  if ("problem" in read) throw new BadAnswer(`its answer is ${read.problem}`);
  return { status, session, reply: checkedReply(read.value, post.message["id"]), isStream: false };
}

function resumption(host: Pick<Host, "upstream">, post: Post, lastEventId: string): UpExchange {
  const headers: Field[] = [["accept", "text/event-stream"], ["last-event-id", lastEventId], ...fieldsOf(post)];
  return host.upstream({ method: "GET", url: post.url, headers, body: null, idleMs: LONGEST_EXCHANGE_MS });
}

async function bounded<T>(work: Promise<T>, maxBytes: number): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof BodyTooLarge || error instanceof EventTooLarge) throw new BadAnswer(`its answer is larger than ${maxBytes} bytes`);
    throw error;
  }
}
