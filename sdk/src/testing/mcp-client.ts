import {
  CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isJsonObject,
  type JsonObject,
  METHOD_HEADER,
  MODERN_VERSION,
  NAME_HEADER,
  VERSION_HEADER,
  VERSION_META_KEY,
} from "@agent-env/protocol";
import { type Answers, answerTo, capabilitiesOf } from "./answers.ts";

/** Sends a request to the environment's MCP endpoint. */
type Post = (headers: Readonly<Record<string, string>>, body: string) => Promise<Response>;

export type McpRequest = {
  readonly method: string;
  readonly params: JsonObject;
  readonly meta: JsonObject;
  readonly headers?: readonly (readonly [string, string])[];
};

/** The result of an MCP request, and what was said before it. */
export type McpAnswer = { readonly result: JsonObject; readonly notifications: readonly JsonObject[] };

/** MCP's own error in place of a result. */
export class McpRequestFailed extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(method: string, error: JsonObject) {
    super(`${method}: ${String(error["message"])}`);
    this.name = "McpRequestFailed";
    this.code = Number(error["code"]);
    this.data = error["data"];
  }
}

/** Makes a request of revision 2026-07-28, and answers what it asks until it has its result. Throws `McpRequestFailed`. */
export async function mcpRequest(post: Post, answers: Answers, request: McpRequest): Promise<McpAnswer> {
  const notifications: JsonObject[] = [];
  for (let round: JsonObject = {}; ; ) {
    const messages = await exchange(post, answers, request, round);
    const last = messages.pop();
    notifications.push(...messages);
    const error = last?.["error"];
    if (isJsonObject(error)) throw new McpRequestFailed(request.method, error);
    const result = last?.["result"];
    if (!isJsonObject(result)) throw new Error(`${request.method}: the environment's answer is none: ${JSON.stringify(last)}`);
    if (result["resultType"] !== "input_required") return { result, notifications };
    round = { inputResponses: responses(answers, result["inputRequests"]), requestState: result["requestState"] };
  }
}

function responses(answers: Answers, asked: unknown): JsonObject {
  const questions = Object.entries(isJsonObject(asked) ? asked : {});
  return Object.fromEntries(
    questions.map(([key, question]) => {
      const { method, params } = isJsonObject(question) ? question : {};
      return [key, answerTo(answers, method, isJsonObject(params) ? params : {})];
    }),
  );
}

/** One request and all messages of its answer, the response last. */
async function exchange(post: Post, answers: Answers, request: McpRequest, round: JsonObject): Promise<JsonObject[]> {
  const { method, params, meta, headers = [] } = request;
  const own = {
    [VERSION_META_KEY]: MODERN_VERSION,
    [CAPABILITIES_META_KEY]: capabilitiesOf(answers),
    [CLIENT_INFO_META_KEY]: { name: "agent-env-test-kit", version: "1.0" },
  };
  const name = params["name"] ?? params["uri"];
  const fields = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    [VERSION_HEADER]: MODERN_VERSION,
    [METHOD_HEADER]: method,
    ...(typeof name === "string" ? { [NAME_HEADER]: encoded(name) } : {}),
    ...Object.fromEntries(headers),
  };
  const message = { jsonrpc: "2.0", id: 1, method, params: { ...params, ...round, _meta: { ...meta, ...own } } };
  const answer = await post(fields, JSON.stringify(message));
  const text = await answer.text();
  const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const texts = isStream ? text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : [])) : [text];
  return texts.map((json) => messageIn(method, json));
}

function messageIn(method: string, json: string): JsonObject {
  const message: unknown = JSON.parse(json);
  if (!isJsonObject(message)) throw new Error(`${method}: the environment answered what is no message: ${json}`);
  return message;
}

function encoded(name: string): string {
  return /^[\x21-\x7e]+$/.test(name) ? name : `=?base64?${Buffer.from(name).toString("base64")}?=`;
}
