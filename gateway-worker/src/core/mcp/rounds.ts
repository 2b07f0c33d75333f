import { isJsonObject, type JsonObject } from "@agent-env/protocol";
import type { Questions } from "./questions.ts";
import type { Turn } from "./turn.ts";

/** A legacy client's answers to what a modern server's result asks for; or why there are none. */
export async function answersOf(result: JsonObject, turn: Turn, questions: Questions): Promise<JsonObject | string> {
  const asked = isJsonObject(result["inputRequests"]) ? Object.entries(result["inputRequests"]) : [];
  const { session, answer } = turn;
  if (asked.length > 0 && session === undefined) return "it asked a client that can't be asked";
  const answers = await Promise.all(
    asked.map(async ([key, request]): Promise<[string, unknown]> => {
      const { message, completed } = legacyRequest(request);
      const send = (question: JsonObject): boolean => {
        if (!answer.open()) return false;
        void answer.say(question);
        return true;
      };
      const reply = await questions.ask(session?.key ?? "", message, send);
      if (completed !== null && session?.version === "2025-11-25") void answer.say(completed);
      return [key, replyResult(message, reply)];
    }),
  );
  const failed = answers.find(([, given]) => typeof given === "string");
  return failed === undefined ? Object.fromEntries(answers) : String(failed[1]);
}

/** The params of the call when it is made again. */
export function retryParams(params: JsonObject, result: JsonObject, answers: JsonObject): JsonObject {
  const { inputResponses, requestState, ...asked } = params;
  const state = result["requestState"];
  return { ...asked, inputResponses: answers, ...(state === undefined ? {} : { requestState: state }) };
}

/** A modern input request as a legacy client is asked it. An address to open has an id there, and a notice when it was done. */
function legacyRequest(request: unknown): { readonly message: JsonObject; readonly completed: JsonObject | null } {
  const { method, params } = isJsonObject(request) ? request : {};
  const asked = isJsonObject(params) ? params : {};
  const isUrl = method === "elicitation/create" && asked["mode"] === "url";
  const elicitationId = crypto.randomUUID();
  const message = { jsonrpc: "2.0", method, params: isUrl ? { ...asked, elicitationId } : asked };
  const completed = { jsonrpc: "2.0", method: "notifications/elicitation/complete", params: { elicitationId } };
  return { message, completed: isUrl ? completed : null };
}

/** Who doesn't answer a form has cancelled it; without a completion or the roots the call can't go on. */
function replyResult(request: JsonObject, reply: JsonObject): unknown {
  if (isJsonObject(reply["result"])) return reply["result"];
  if (request["method"] === "elicitation/create") return { action: "cancel" };
  const error = isJsonObject(reply["error"]) ? reply["error"]["message"] : undefined;
  return `the client did not answer ${String(request["method"])}: ${String(error)}`;
}
