import {
  errorAnswer,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  isJsonObject,
  type JsonObject,
  METHOD_NOT_FOUND,
  RESOURCE_NOT_FOUND,
  resultAnswer,
} from "@agent-env/protocol";
import type { Outcome, Trouble } from "./link.ts";
import type { Reply } from "./turn.ts";

const ERROR_META_KEY = "agentenv.io/error";
/** What a list says of how long it may be kept: not at all, since who may see what changes. */
export const NOT_KEPT = { ttlMs: 0, cacheScope: "private" };

/** The reply to a tool's call. One that has no answer of the server's is a result that a model can read. */
export function toolReply(id: unknown, outcome: Outcome, server: string): Reply {
  if ("reply" in outcome) return { message: { ...outcome.reply, id }, isStream: false };
  return { message: resultAnswer(id, troubleResult(outcome.trouble, server)), isStream: false };
}

/** The reply to any other request. */
export function plainReply(id: unknown, outcome: Outcome, server: string): Reply {
  if ("reply" in outcome) return { message: { ...outcome.reply, id }, isStream: outcome.isStream };
  const { reason, detail } = outcome.trouble;
  return { message: errorAnswer(id, INTERNAL_ERROR, `${server}: ${detail}`, { reason, server }), isStream: false };
}

function troubleResult({ reason, detail, delivered }: Trouble, server: string): JsonObject {
  return { ...toolError(`${server}: ${detail}`), _meta: { [ERROR_META_KEY]: { reason, server, delivered } } };
}

/** A failed call as a result that a model can read. */
export function toolError(text: string): JsonObject {
  return { content: [{ type: "text", text }], isError: true };
}

/** A reply as a modern client reads it: its result says that it is one, and how long it may be kept. */
export function modernReply(method: unknown, message: JsonObject): JsonObject {
  const { result, error } = message;
  if (isJsonObject(result)) {
    const hints = method === "resources/read" && result["ttlMs"] === undefined ? NOT_KEPT : {};
    return result["resultType"] === undefined ? { ...message, result: { resultType: "complete", ...hints, ...result } } : message;
  }
  if (isJsonObject(error) && error["code"] === RESOURCE_NOT_FOUND) return { ...message, error: { ...error, code: INVALID_PARAMS } };
  return message;
}

/** The HTTP status of a modern reply that is no stream. */
export function modernStatus({ error }: JsonObject): number {
  const code = isJsonObject(error) ? error["code"] : undefined;
  if (code === METHOD_NOT_FOUND) return 404;
  return typeof code === "number" && code <= -32020 && code >= -32022 ? 400 : 200;
}
