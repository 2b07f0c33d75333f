export type JsonObject = { [key: string]: unknown };

/** The codes of JSON-RPC 2.0, and those that MCP adds. */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
/** Legacy MCP: the session isn't known. */
export const SESSION_NOT_FOUND = -32001;
/** Legacy MCP: no server has the resource. */
export const RESOURCE_NOT_FOUND = -32002;
/** Legacy MCP: the user has to open addresses first; `data.elicitations` has them. */
export const URL_ELICITATION_REQUIRED = -32042;
/** Modern MCP: a header says something else than the body. */
export const HEADER_MISMATCH = -32020;
/** Modern MCP: the request needs what its client hasn't declared; `data.requiredCapabilities`. */
export const MISSING_CAPABILITY = -32021;
/** Modern MCP: the version isn't served; `data.requested`, `data.supported`. */
export const UNSUPPORTED_VERSION = -32022;

/** Deepest nesting that a message may have. */
export const MAX_DEPTH = 128;

const MAY_BE_INEXACT = /\d{16}|[eE][+-]?\d{3}/;

type NumberSource = { readonly source?: string };
/** `JSON.rawJSON` and the reviver's source text (ECMAScript 2026): in every V8 we run on, not yet in TypeScript's library. */
type JsonWithSource = {
  parse(text: string, reviver: (key: string, value: unknown, context: NumberSource) => unknown): unknown;
  rawJSON(source: string): object;
  isRawJSON(value: unknown): boolean;
};
const json: JsonWithSource = JSON as typeof JSON & JsonWithSource;

/**
 * The value of a JSON text. Where it holds 16 or more digits in a row, or an exponent of three, numbers that a double can't hold
 * exactly come as opaque values that `JSON.stringify` writes as they were. Of doubled keys the last counts. Throws `SyntaxError`.
 */
export function parseJson(text: string): unknown {
  if (!MAY_BE_INEXACT.test(text)) return JSON.parse(text);
  return json.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && String(value) !== source ? json.rawJSON(source) : value,
  );
}

/**
 * The value of a JSON text from elsewhere, or why it has none that can be used: what nests deeper than `MAX_DEPTH` can be
 * parsed, but exhausts the stack of whoever writes it again.
 */
export function receivedJson(text: string): { readonly value: unknown } | { readonly problem: string } {
  if (isTooDeep(text)) return { problem: `JSON that nests deeper than ${MAX_DEPTH}` };
  try {
    return { value: parseJson(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return { problem: "no JSON" };
    throw error;
  }
}

/** Whether a value is a JSON object: no array, no null, no opaque number. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !json.isRawJSON(value);
}

/** A JSON number as a double, whether it came opaque or not; undefined for anything else. */
export function doubleIn(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  return json.isRawJSON(value) ? Number(JSON.stringify(value)) : undefined;
}

/** Whether two values are one and the same number or text, or nothing. Opaque numbers are it where they are written alike. */
export function isSameScalar(a: unknown, b: unknown): boolean {
  return a === b || (json.isRawJSON(a) && json.isRawJSON(b) && JSON.stringify(a) === JSON.stringify(b));
}

/** Whether a value can be the id of a request: a string or a number, however long. */
export function isRequestId(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number" || json.isRawJSON(value);
}

/** Whether a JSON text nests deeper than `MAX_DEPTH`. */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 0x5c) at++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > MAX_DEPTH) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}

/** The answer to a request that went wrong. `data` is left out when undefined. */
export function errorAnswer(id: unknown, code: number, message: string, data?: unknown): JsonObject {
  return { jsonrpc: "2.0", id, error: data === undefined ? { code, message } : { code, message, data } };
}

/** The answer to a request that went well. */
export function resultAnswer(id: unknown, result: unknown): JsonObject {
  return { jsonrpc: "2.0", id, result };
}
