import { isJsonObject, type JsonObject } from "@agent-env/protocol";

/** What the kit's client says when a call asks it. What is left out it hasn't declared that it can be asked. */
export type Answers = {
  /** What its person makes of a form; an object accepts with that content. */
  readonly form?: (message: string, schema: unknown) => JsonObject | "decline" | "cancel";
  readonly openUrl?: (url: string) => "accept" | "decline" | "cancel";
  /** What its model says to the last message. */
  readonly model?: (text: string) => string;
  readonly roots?: readonly { readonly uri: string; readonly name?: string }[];
};

/** The capabilities of a client that answers so. */
export function capabilitiesOf({ form, openUrl, model, roots }: Answers): JsonObject {
  const modes = { ...(form === undefined ? {} : { form: {} }), ...(openUrl === undefined ? {} : { url: {} }) };
  return {
    ...(Object.keys(modes).length === 0 ? {} : { elicitation: modes }),
    ...(model === undefined ? {} : { sampling: {} }),
    ...(roots === undefined ? {} : { roots: {} }),
  };
}

/** The answer to one question of a call. */
export function answerTo({ form, openUrl, model, roots }: Answers, method: unknown, params: JsonObject): JsonObject {
  if (method === "roots/list" && roots !== undefined) return { roots: [...roots] };
  if (method === "sampling/createMessage" && model !== undefined) {
    return { role: "assistant", model: "test", content: { type: "text", text: model(lastText(params["messages"])) } };
  }
  if (method === "elicitation/create") {
    if (params["mode"] === "url" && openUrl !== undefined) return { action: openUrl(String(params["url"])) };
    const made = params["mode"] === "url" ? undefined : form?.(String(params["message"]), params["requestedSchema"]);
    if (typeof made === "string") return { action: made };
    if (made !== undefined) return { action: "accept", content: made };
  }
  throw new Error(`the call asks ${JSON.stringify(method)}, and the kit has no answer to it`);
}

function lastText(messages: unknown): string {
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  const content = isJsonObject(last) ? last["content"] : undefined;
  return isJsonObject(content) && typeof content["text"] === "string" ? content["text"] : "";
}
