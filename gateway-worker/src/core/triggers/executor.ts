import { isJsonObject, type JsonObject, joined, receivedJson } from "@agent-env/protocol";
import { BodyTooLarge, textOf } from "../body.ts";
import { HOPS_FIELD } from "../route.ts";
import { Fault, type Host } from "../seam.ts";
import { pause } from "../timing.ts";
import type { Executor } from "./spec.ts";

const EVERY_MS = 2_000;
const ANSWER_MS = 30_000;
const MAX_ANSWER_BYTES = 16_777_216;
const GONE_ON = ["submitted", "working"];

/** Why an executor didn't do what it was told. */
export class ExecutorFailed extends Error {}

/** Tells an executor what to do, and waits until it has (A2A: `message/send`, then `tasks/get`). Throws `ExecutorFailed`. */
export async function instruct(
  host: Host,
  executor: Executor,
  order: { readonly instruction: string; readonly context: string; readonly isStopped: () => boolean },
): Promise<void> {
  const deadline = Date.now() + executor.timeout_seconds * 1000;
  const message = {
    kind: "message",
    role: "user",
    messageId: crypto.randomUUID(),
    contextId: order.context,
    parts: [{ kind: "text", text: order.instruction }],
  };
  let task = await rpc(host, executor, "message/send", { message, configuration: { blocking: false } });
  for (;;) {
    const state = isJsonObject(task["status"]) ? task["status"]["state"] : undefined;
    if (task["kind"] === "message" || state === "completed") return;
    if (!GONE_ON.includes(String(state))) throw new ExecutorFailed(`the executor's task is ${JSON.stringify(state ?? null)}`);
    if (Date.now() + EVERY_MS > deadline) throw new ExecutorFailed(`the executor was not done within ${executor.timeout_seconds}s`);
    await pause(EVERY_MS);
    if (order.isStopped()) return;
    task = await rpc(host, executor, "tasks/get", { id: task["id"] });
  }
}

async function rpc(host: Host, { a2a_url }: Executor, method: string, params: JsonObject): Promise<JsonObject> {
  const exchange = host.upstream({
    method: "POST",
    url: joined(a2a_url, "/a2a"),
    headers: [
      ["content-type", "application/json"],
      ["accept", "application/json"],
      ["accept-encoding", "identity"],
      [HOPS_FIELD, "1"],
    ],
    body: JSON.stringify({ jsonrpc: "2.0", id: crypto.randomUUID(), method, params }),
    idleMs: ANSWER_MS,
  });
  try {
    const response = await exchange.response;
    const read = receivedJson(await textOf(response, MAX_ANSWER_BYTES));
    const said = "value" in read && isJsonObject(read.value) ? read.value : {};
    if (isJsonObject(said["result"])) return said["result"];
    const error = isJsonObject(said["error"]) ? `: ${String(said["error"]["message"])}` : "";
    throw new ExecutorFailed(`the executor answered ${method} with HTTP ${response.status}${error}`);
  } catch (error) {
    if (error instanceof Fault) throw new ExecutorFailed(`the executor can't be reached: ${error.reason}`, { cause: error });
    if (error instanceof BodyTooLarge) throw new ExecutorFailed("the executor's answer is too large", { cause: error });
    throw error;
  }
}
