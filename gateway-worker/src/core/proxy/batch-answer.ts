import { type JsonObject, messageEvent } from "@agent-env/protocol";
import { concatenated } from "../body.ts";
import { Fault, type Field, type Out, type Sink } from "../seam.ts";

/** The answer to a batch of which some messages were answered here: their replies are added to the server's. */
export function withAdded(answer: Out, added: readonly JsonObject[]): Out {
  const stream = (status: number, headers: readonly Field[]): Sink => {
    const type = headers.find(([name]) => name === "content-type")?.[1] ?? "";
    if (status === 200 && type.startsWith("text/event-stream")) return addedEvents(answer, headers, added);
    if (status === 200 || status === 202 || status === 204) return addedReplies(answer, headers, added);
    return answer.stream(status, headers);
  };
  return {
    stream,
    reply: (status, headers, body) => answer.reply(status, headers, body),
    onGone: (then) => answer.onGone(then),
    relay: async (status, headers, from) => {
      const sink = stream(status, headers);
      try {
        await from.pump((chunk) => sink.write(chunk));
        sink.end();
      } catch (error) {
        sink.cut();
        if (!(error instanceof Fault)) throw error;
      }
    },
  };
}

function addedEvents(answer: Out, headers: readonly Field[], added: readonly JsonObject[]): Sink {
  const sink = answer.stream(200, withoutLength(headers));
  return {
    write: (chunk) => sink.write(chunk),
    cut: () => sink.cut(),
    end: () => {
      for (const message of added) void sink.write(messageEvent(message));
      sink.end();
    },
    get gone() {
      return sink.gone;
    },
  };
}

function addedReplies(answer: Out, headers: readonly Field[], added: readonly JsonObject[]): Sink {
  const chunks: Uint8Array[] = [];
  const reply = (messages: readonly unknown[]) => {
    const fields = withoutLength(headers).filter(([name]) => name !== "content-type");
    answer.reply(200, [["content-type", "application/json"], ...fields], JSON.stringify(messages));
  };
  return {
    write: (chunk) => {
      chunks.push(typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk);
    },
    cut: () => reply(added),
    end: () => {
      const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
      const text = new TextDecoder().decode(concatenated(chunks, size)).trim();
      const answers: unknown = text === "" ? [] : JSON.parse(text);
      reply([...(Array.isArray(answers) ? answers : [answers]), ...added]);
    },
    gone: false,
  };
}

function withoutLength(headers: readonly Field[]): Field[] {
  return headers.filter(([name]) => name !== "content-length");
}
