import {
  INVALID_REQUEST,
  isJsonObject,
  isRequestId,
  isTooDeep,
  type JsonObject,
  MAX_DEPTH,
  PARSE_ERROR,
  parseJson,
} from "@agent-env/protocol";
import type { Host, In } from "../seam.ts";

/** Why a body is no JSON-RPC. `code` -32700 or -32600; 413 and 415 are about the body, not its content. */
export type BodyProblem = { readonly status: 400 | 413 | 415; readonly code: number; readonly message: string };
export type ReadBody = { readonly value: unknown } | { readonly problem: BodyProblem };

const CODINGS = ["gzip", "deflate", "br"];
/** One for all bodies: making it costs more than what it decodes. */
const UTF_8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/** The JSON of a request's body: decoded, bounded, in valid UTF-8 and not too deep. */
export async function readJson(host: Host, request: In, limit: number): Promise<ReadBody> {
  const coding = request.header("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (coding !== "identity" && !CODINGS.includes(coding))
    return problem(415, INVALID_REQUEST, `content coding ${JSON.stringify(coding)} isn't read here`);
  const sent = await request.bytes(limit);
  const bytes = sent === null || coding === "identity" ? sent : await decoded(host, coding, sent, limit);
  if (bytes === null) return problem(413, INVALID_REQUEST, `the message is larger than ${limit} bytes`);
  if (bytes === "broken") return problem(400, PARSE_ERROR, `the body is no ${coding}`);
  try {
    const text = UTF_8.decode(bytes);
    if (isTooDeep(text)) return problem(400, INVALID_REQUEST, `the message nests deeper than ${MAX_DEPTH}`);
    return { value: parseJson(text) };
  } catch (error) {
    // TextDecoder throws TypeError for what is no UTF-8
    if (error instanceof SyntaxError || error instanceof TypeError) return problem(400, PARSE_ERROR, "the body is not JSON in UTF-8");
    throw error;
  }
}

async function decoded(host: Host, coding: string, bytes: Uint8Array, limit: number): Promise<Uint8Array | null | "broken"> {
  try {
    return await host.decode(coding, bytes, limit);
  } catch {
    return "broken";
  }
}

function problem(status: BodyProblem["status"], code: number, message: string): ReadBody {
  return { problem: { status, code, message } };
}

/** What a JSON value is as a JSON-RPC message; null for none. */
export type MessageKind = "request" | "notification" | "response";

export function kindOf(message: JsonObject): MessageKind | null {
  if (message["jsonrpc"] !== "2.0") return null;
  const hasId = Object.hasOwn(message, "id");
  if (typeof message["method"] === "string") return hasId ? (isRequestId(message["id"]) ? "request" : null) : "notification";
  const hasOutcome = isJsonObject(message["error"]) || Object.hasOwn(message, "result");
  return hasId && hasOutcome && isRequestId(message["id"]) ? "response" : null;
}

/** The id of what might be a request, for an error about it. */
export function idOf(message: unknown): unknown {
  return isJsonObject(message) && isRequestId(message["id"]) ? message["id"] : null;
}
