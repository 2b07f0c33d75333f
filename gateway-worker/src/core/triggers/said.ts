import { isJsonObject, type JsonObject, receivedJson } from "@agent-env/protocol";

/** What a tool has said, as triggers look at it. */
export type Said = { readonly isError: boolean; readonly value: unknown; readonly text: string };

/** A call's result: its structured content, else the JSON in its text, else the text. */
export function saidIn(result: JsonObject): Said {
  const content = Array.isArray(result["content"]) ? result["content"].filter(isJsonObject) : [];
  const text = content.flatMap((item) => (typeof item["text"] === "string" ? [item["text"]] : [])).join("\n");
  const structured = result["structuredContent"];
  const read = receivedJson(text);
  return { isError: result["isError"] === true, value: structured ?? ("value" in read ? read.value : text), text };
}
