import { isJsonObject, type JsonObject } from "@agent-env/protocol";
import { BadAnswer } from "../mcp/bad-answer.ts";
import type { Answered, Post } from "../mcp/exchange.ts";
import { serverAt, wordFor } from "./http-call.ts";
import { knownMcpMethod } from "./mcp-methods.ts";
import type { Attributes } from "./span.ts";
import type { Watched } from "./watched.ts";

/** Watches one message to a server and the wait for its reply (OpenTelemetry, MCP client spans). */
export async function mcpCall(watched: Watched, post: Post, send: (post: Post) => Promise<Answered>): Promise<Answered> {
  const { message, version, url, fields } = post;
  const method = knownMcpMethod(message["method"]) ?? "response";
  const named = nameIn(method, message);
  const call = watched.call(named === null ? method : `${method} ${named.name}`, {
    "mcp.method.name": method,
    ...(named === null ? {} : { [named.attribute]: named.name }),
    ...(version === undefined ? {} : { "mcp.protocol.version": version }),
    ...serverAt(url),
  });
  try {
    const answered = await send({ ...post, fields: call.traced(fields) });
    call.end({ "http.response.status_code": answered.status, ...codeIn(answered) }, errorIn(answered));
    return answered;
  } catch (error) {
    call.end({}, error instanceof BadAnswer ? "bad_answer" : wordFor(error));
    throw error;
  }
}

/** What is named by a request: a tool or a prompt. A resource's address may hold anything. */
function nameIn(method: string, { params }: JsonObject): { readonly attribute: string; readonly name: string } | null {
  const attribute = NAMED[method];
  const name = isJsonObject(params) ? params["name"] : undefined;
  return attribute === undefined || typeof name !== "string" ? null : { attribute, name };
}

const NAMED: Readonly<Record<string, string>> = { "tools/call": "gen_ai.tool.name", "prompts/get": "gen_ai.prompt.name" };

function codeIn({ reply }: Answered): Attributes {
  const error = reply?.["error"];
  return isJsonObject(error) ? { "rpc.response.status_code": String(error["code"]) } : {};
}

function errorIn({ status, reply }: Answered): string | null {
  const error = reply?.["error"];
  if (isJsonObject(error)) return String(error["code"]);
  const result = reply?.["result"];
  if (isJsonObject(result) && result["isError"] === true) return "tool_error";
  return status >= 400 ? String(status) : null;
}
