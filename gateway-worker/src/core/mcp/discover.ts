import {
  HEADER_MISMATCH,
  isJsonObject,
  type JsonObject,
  MISSING_CAPABILITY,
  MODERN_VERSION,
  UNSUPPORTED_VERSION,
} from "@agent-env/protocol";
import { BadAnswer } from "./bad-answer.ts";
import type { Wire } from "./channel.ts";
import { type Answered, exchange } from "./exchange.ts";
import { isMethodUnknown } from "./method-unknown.ts";
import { ModernChannel } from "./modern-channel.ts";

const DISCOVER_MS = 30_000;
/** Only a modern server says these. */
const MODERN_CODES: readonly unknown[] = [HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION];
/** So a server refuses a request that it doesn't understand. Anything else says nothing about what it speaks. */
const REFUSALS = [400, 404, 405, 406];

/**
 * What a server says of itself in the modern era; null for one that speaks the legacy era only (6-mcp §5). Throws `Fault` and
 * `BadAnswer` where it gave no verdict: then it is down, or refuses everybody.
 */
export async function discover(wire: Wire): Promise<JsonObject | null> {
  const channel = new ModernChannel(wire, { capabilities: {} });
  const post = channel.post({ jsonrpc: "2.0", method: "server/discover" }, wire.nextId());
  const answered = await exchange(wire.host, { ...post, silenceMs: DISCOVER_MS, heard: () => undefined }).catch(nothingReadable);
  return answered === null ? null : verdictOf(answered);
}

/** What is no MCP at all is for the handshake to name. */
function nothingReadable(error: unknown): null {
  if (error instanceof BadAnswer) return null;
  throw error;
}

/** What the answer to `server/discover` says; null for legacy. */
export function verdictOf({ status, reply }: Answered): JsonObject | null {
  const result = reply?.["result"];
  if (status === 200 && isJsonObject(result)) {
    if (Array.isArray(result["supportedVersions"]) && result["supportedVersions"].includes(MODERN_VERSION)) return result;
    return null;
  }
  if (isModernError(reply)) return {};
  if (REFUSALS.includes(status) || (status === 200 && isJsonObject(reply?.["error"]))) return null;
  throw new BadAnswer(`HTTP ${status}`);
}

/** Whether an answer shows that the server doesn't speak the era in which it was asked. */
export function contradictsModern(status: number | undefined, reply: JsonObject | undefined): boolean {
  return status !== undefined && REFUSALS.includes(status) && !isModernError(reply) && !isUnknownThere(status, reply);
}

function isModernError(reply: JsonObject | undefined): boolean {
  const error = reply?.["error"];
  return isJsonObject(error) && MODERN_CODES.includes(error["code"]);
}

/** A modern server says 404 for a method that it doesn't have. */
function isUnknownThere(status: number, reply: JsonObject | undefined): boolean {
  return status === 404 && isMethodUnknown(reply);
}
