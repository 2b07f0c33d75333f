import { isJsonObject, type JsonObject, receivedJson } from "@agent-env/protocol";
import type { Context } from "hono";
import type { AppEnv } from "./env.ts";

/** The JSON object in a request's body, or why there is none. An answer of 400 or 413 says so. */
export type ReadObject = { readonly object: JsonObject } | { readonly problem: string; readonly status: 400 | 413 };

/** Reads a request's body, as far as it isn't larger than `limitBytes`. */
export async function readObject(context: Context<AppEnv>, limitBytes: number): Promise<ReadObject> {
  const text = await boundedText(context.req.raw.body, limitBytes);
  if (text === null) return { problem: `the body is larger than ${limitBytes} bytes`, status: 413 };
  const read = receivedJson(text);
  if ("problem" in read) return { problem: read.problem === "no JSON" ? "Invalid JSON body" : `the body is ${read.problem}`, status: 400 };
  return isJsonObject(read.value) ? { object: read.value } : { problem: "body must be a JSON object", status: 400 };
}

/** A body as text; null as soon as it is larger than that. */
export async function boundedText(body: ReadableStream<Uint8Array> | null, limitBytes: number): Promise<string | null> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  if (body === null) return text;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limitBytes) return null;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
