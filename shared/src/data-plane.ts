import { z } from "zod";
import { INVALID_PARAMS, INVALID_REQUEST, isJsonObject, METHOD_NOT_FOUND, PARSE_ERROR } from "./jsonrpc.ts";

/** Listed by a server that writes objects itself, under the grant it gets with `data/get` (3-wire §data). */
export const DATA_OBJECTS_URI = "urn:agentenv:data-objects/v1";

const Metadata = z.record(z.string(), z.unknown());
const file = { mimeType: z.string().nullish(), name: z.string().nullish() };

const TextPart = z.looseObject({ kind: z.literal("text"), text: z.string(), metadata: Metadata.nullish() });
const DataPart = z.looseObject({ kind: z.literal("data"), data: Metadata, metadata: Metadata.nullish() });
const FilePart = z.looseObject({
  kind: z.literal("file"),
  file: z.union([z.looseObject({ bytes: z.string(), ...file }), z.looseObject({ uri: z.string(), ...file })]),
  metadata: Metadata.nullish(),
});

/** One piece of an environment's data. `bytes` is base64; unknown keys stay. */
export const Part = z.discriminatedUnion("kind", [TextPart, DataPart, FilePart]);
export type Part = z.infer<typeof Part>;

/** Whether a path may name an object under a grant's `root_path`: relative, and it stays there. */
export function isObjectPath(path: string): boolean {
  return !path.includes("\\") && path.split("/").every((segment) => segment !== "" && segment !== "." && segment !== "..");
}

const Https = z.url({ protocol: /^https$/ });
const UtcTime = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$/);
const Headers = z.record(z.string(), z.string()).optional();

/** Where a server may write the objects that `data/get` names. A closed shape, whose values are secrets. */
export const Grant = z.strictObject({
  root_path: z.string().refine(isObjectPath),
  expires_at: UtcTime,
  max_objects: z.int().positive(),
  max_object_bytes: z.int().positive(),
  max_total_bytes: z.int().positive(),
  write: z.strictObject({
    kind: z.literal("http-post-policy"),
    url: Https,
    fields: z.record(z.string(), z.string()),
    path_field: z.string().min(1),
    file_field: z.string().min(1),
    headers: Headers,
  }),
});
export type Grant = z.infer<typeof Grant>;

const object = { media_type: z.string().min(1), max_bytes: z.int().positive() };

/** One object to read: closed, and `size_bytes` never exceeds `max_bytes`. */
export const ReadObject = z
  .strictObject({
    ...object,
    size_bytes: z.int().nonnegative().optional(),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional(),
    read: z.strictObject({ kind: z.literal("http-get"), url: Https, expires_at: UtcTime, headers: Headers }),
  })
  .refine(({ size_bytes, max_bytes }) => (size_bytes ?? 0) <= max_bytes, { path: ["size_bytes"] });
export type ReadObject = z.infer<typeof ReadObject>;

/** One object to write. */
export const WriteObject = z.strictObject({
  ...object,
  write: z.strictObject({ kind: z.literal("http-put"), url: Https, expires_at: UtcTime, headers: Headers }),
});
export type WriteObject = z.infer<typeof WriteObject>;

/** A data-plane request as read. The id is echoed whatever it is; a missing one is null. */
export type DataRequest = { readonly id: unknown; readonly method: string; readonly params: unknown };
export type DataError = { readonly code: number; readonly message: string; readonly data?: Readonly<Record<string, unknown>> };
/** Goes out as HTTP 200, whatever it says. */
export type DataAnswer =
  | { readonly jsonrpc: "2.0"; readonly id: unknown; readonly result: Readonly<Record<string, unknown>> }
  | { readonly jsonrpc: "2.0"; readonly id: unknown; readonly error: DataError };

export const dataResult = (id: unknown, result: Readonly<Record<string, unknown>>): DataAnswer => ({ jsonrpc: "2.0", id, result });
export const dataError = (id: unknown, error: DataError): DataAnswer => ({ jsonrpc: "2.0", id, error });

/** Errors of the data plane, in the order in which they are looked for. */
export const parseError: DataError = { code: PARSE_ERROR, message: "parse error" };
export const invalidRequest: DataError = { code: INVALID_REQUEST, message: "invalid request" };
export const methodNotFound = (method: string): DataError => ({ code: METHOD_NOT_FOUND, message: `method not found: ${method}` });
export const invalidParams = (detail: string): DataError => ({ code: INVALID_PARAMS, message: "invalid_request", data: { detail } });
/** A handler threw. `operation` is the method without `data/`. */
export const handlerFailed = (operation: string, message: string): DataError => ({
  code: -32000,
  message,
  data: { code: `${operation}_failed` },
});

/** The request in a body, or the answer to a body that holds none. */
export function readDataRequest(body: string): { readonly request: DataRequest } | { readonly answer: DataAnswer } {
  if (body === "") return { answer: dataError(null, invalidRequest) };
  let message: unknown;
  try {
    message = JSON.parse(body);
  } catch {
    return { answer: dataError(null, parseError) };
  }
  if (!isJsonObject(message)) return { answer: dataError(null, invalidRequest) };
  const id = message["id"] ?? null;
  const method = message["method"];
  if (message["jsonrpc"] !== "2.0" || typeof method !== "string") return { answer: dataError(id, invalidRequest) };
  return { request: { id, method, params: isEmpty(message["params"]) ? {} : message["params"] } };
}

const AddParams = z.object({ parts: z.array(Part).min(1) });

/** The parts of a `data/add`, or what is wrong with its params. */
export function readAddParams(params: unknown): { readonly parts: Part[] } | { readonly error: DataError } {
  const read = AddParams.safeParse(params);
  return read.success ? { parts: read.data.parts } : { error: invalidParams(issuesText(read.error)) };
}

/**
 * The grant in the params of a `data/get`, null if there is none. What is wrong with one is told by the names of its
 * fields: their values are secrets.
 */
export function readGetParams(params: unknown): { readonly grant: Grant | null } | { readonly error: DataError } {
  if (!isJsonObject(params)) return { error: invalidParams("params: expected an object") };
  const given = params["write_namespace"];
  if (given === undefined || given === null) return { grant: null };
  const read = Grant.safeParse(given);
  if (read.success) return { grant: read.data };
  const fields = read.error.issues.flatMap((issue) =>
    issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key].join(".")) : [issue.path.join(".")],
  );
  return { error: invalidParams(`write_namespace: missing or not as required: ${[...new Set(fields)].join(", ") || "it is no object"}`) };
}

/** A schema's issues on one line, each with its path. */
export function issuesText(error: z.ZodError): string {
  return error.issues
    .map((issue) => (issue.path.length === 0 ? issue.message : `${z.core.toDotPath(issue.path)}: ${issue.message}`))
    .join("; ");
}

/** Empty as the original reads it: `{}`, `[]`, `""`, `0` and `false` count like a missing value. */
function isEmpty(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === "" || value === 0 || value === false;
}
