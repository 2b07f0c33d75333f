import { type Card, DATA_PLANE_PATH, isJsonObject, type JsonObject, jsonOf, type Part, pathOnServer } from "@agent-env/protocol";
import type { Subject } from "./check.ts";
import { type Ask, DATA_MS, type Exchange } from "./http.ts";

export type Operation = "data/reset" | "data/add" | "data/get";

/** Whether a card says that an operation is served: a card without the list is an older one, which serves all (3-wire §card). */
export function serves({ capabilities }: Card, operation: Operation): boolean {
  return capabilities.operations?.includes(operation) ?? true;
}

/** Whether the card lists anything that a data plane is for. */
export function hasDataPlane({ capabilities }: Card): boolean {
  return capabilities.operations?.length !== 0;
}

/** The data plane's path below the subject's address, or null where the card puts it on another server. */
export function dataPath({ card, http }: Subject): string | null {
  const path = pathOnServer(card.url, [new URL(http.base).origin]);
  return path === null ? null : `${path.replace(/\/+$/, "").replace(/\/agentenv$/, "")}${DATA_PLANE_PATH}`;
}

/** One JSON-RPC request with id 1, or any other body. */
export async function askData(subject: Subject, body: unknown, ask: Omit<Ask, "body"> = {}): Promise<Exchange> {
  const path = dataPath(subject);
  if (path === null) throw new Error("a data plane on another server is never asked");
  return await subject.http.post(path, body, { timeoutMs: DATA_MS, ...ask });
}

export function dataRequest(method: string, params?: unknown): JsonObject {
  return { jsonrpc: "2.0", id: 1, method, ...(params === undefined ? {} : { params }) };
}

/** A JSON-RPC answer: HTTP 200 with one object that has a result or an error. Null for anything else. */
export function replyIn({ status, type, text }: Exchange): JsonObject | null {
  const value = status === 200 && type === "application/json" ? jsonOf(text) : undefined;
  if (!isJsonObject(value) || value["jsonrpc"] !== "2.0") return null;
  return isJsonObject(value["result"]) || isJsonObject(value["error"]) ? value : null;
}

export function errorIn(exchange: Exchange): JsonObject | null {
  const error = replyIn(exchange)?.["error"];
  return isJsonObject(error) ? error : null;
}

/** Whether an operation isn't served, whatever the card says: the check data-operations tells so. */
export function isUnserved(exchange: Exchange): boolean {
  return errorIn(exchange)?.["code"] === -32601;
}

export function resultIn(exchange: Exchange): JsonObject | null {
  const result = replyIn(exchange)?.["result"];
  return isJsonObject(result) ? result : null;
}

/** The parts of a `data/get`, unread. */
export function partsIn(exchange: Exchange): readonly unknown[] | null {
  const parts = resultIn(exchange)?.["parts"];
  return Array.isArray(parts) ? parts : null;
}

/** The data of a seed that is one data part, as a file with bytes: what a loader makes of a JSON file. */
export function asFile(parts: readonly Part[]): Part[] | null {
  const [part, ...others] = parts;
  if (part?.kind !== "data" || others.length > 0) return null;
  const bytes = Buffer.from(JSON.stringify(part.data)).toString("base64");
  return [{ kind: "file", file: { bytes, name: "seed.json", mimeType: "application/json" } }];
}
