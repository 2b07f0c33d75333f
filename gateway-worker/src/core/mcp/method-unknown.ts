import { isJsonObject, type JsonObject, METHOD_NOT_FOUND } from "@agent-env/protocol";

/** Whether a reply says that its server doesn't have the method (JSON-RPC 2.0 §5.1). */
export function isMethodUnknown(reply: JsonObject | undefined): boolean {
  const error = reply?.["error"];
  return isJsonObject(error) && error["code"] === METHOD_NOT_FOUND;
}
