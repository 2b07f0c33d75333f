import { isJsonObject, type JsonObject } from "@agent-env/protocol";
import { BadAnswer } from "./bad-answer.ts";

/** What a server sent as the reply to request `id`. Throws `BadAnswer` where it is none: clients would fail on it without a word. */
export function checkedReply(message: unknown, id: unknown): JsonObject {
  if (!isJsonObject(message) || message["jsonrpc"] !== "2.0" || Object.hasOwn(message, "method"))
    throw new BadAnswer("its answer is no JSON-RPC response");
  if (message["id"] !== id) throw new BadAnswer("its answer is to another request");
  const hasResult = Object.hasOwn(message, "result");
  if (hasResult === Object.hasOwn(message, "error")) throw new BadAnswer("its answer has not exactly one of result and error");
  if (hasResult && !isJsonObject(message["result"])) throw new BadAnswer("its result is no object");
  if (!hasResult && !isError(message["error"])) throw new BadAnswer("its error is none of JSON-RPC's");
  return message;
}

/** Whether a message says that a request was refused, be it without the request's id. */
export function isErrorAnswer(message: unknown): message is JsonObject {
  return isJsonObject(message) && message["jsonrpc"] === "2.0" && isError(message["error"]);
}

function isError(value: unknown): boolean {
  return isJsonObject(value) && typeof value["code"] === "number" && typeof value["message"] === "string";
}
