import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { issuesText, type Part } from "@agent-env/protocol";
import type { z } from "zod";
import type { DataHandlers } from "./data-plane.ts";
import { checkOptions, type OptionNames } from "./options.ts";

export const textPart = (text: string): Part => ({ kind: "text", text });
export const dataPart = (data: Readonly<Record<string, unknown>>): Part => ({ kind: "data", data: { ...data } });
/** A file by its bytes. */
export const filePart = (bytes: Uint8Array, named: { name?: string; mimeType?: string } = {}): Part => ({
  kind: "file",
  file: { bytes: Buffer.from(bytes).toString("base64"), ...named },
});

/**
 * What a part holds, in whichever of the forms a seed has it: inline data (as JSON) or text, a file's bytes, a `file://`
 * URI that a loader placed here, or an `http(s)://` one.
 */
export async function bytesOf(part: Part): Promise<Uint8Array> {
  if (part.kind === "text") return Buffer.from(part.text);
  if (part.kind === "data") return Buffer.from(JSON.stringify(part.data));
  const { file } = part;
  if ("bytes" in file && typeof file.bytes === "string") return Buffer.from(file.bytes, "base64");
  return await bytesAt(String(file["uri"]));
}

/** The JSON value that a part holds, in any of its forms. */
export async function jsonOf(part: Part): Promise<unknown> {
  if (part.kind === "data") return part.data;
  const text = Buffer.from(await bytesOf(part)).toString("utf8");
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`the ${part.kind} part is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/**
 * The data plane of an environment whose data is one JSON document. `add` gets each part's document, checked by `schema`;
 * `get` returns one of the same shape, which `add` takes again.
 */
export function jsonData<Schema extends z.ZodType>(
  schema: Schema,
  handlers: {
    readonly reset: () => unknown;
    readonly add: (document: z.output<Schema>) => unknown;
    readonly get: () => z.input<Schema> | Promise<z.input<Schema>>;
  },
): DataHandlers {
  checkOptions("jsonData", handlers, { reset: true, add: true, get: true } satisfies OptionNames<typeof handlers>);
  return {
    reset: () => handlers.reset(),
    async add(parts) {
      const documents: z.output<Schema>[] = [];
      for (const part of parts) {
        const read = await schema.safeParseAsync(await jsonOf(part));
        if (!read.success) throw new Error(`the data isn't as this environment takes it: ${issuesText(read.error)}`);
        documents.push(read.data);
      }
      for (const document of documents) await handlers.add(document);
    },
    async get() {
      return [dataPart(Object.fromEntries(Object.entries((await handlers.get()) ?? {})))];
    },
  };
}

async function bytesAt(uri: string): Promise<Uint8Array> {
  const { protocol } = new URL(uri);
  if (protocol === "file:") return await readFile(fileURLToPath(uri));
  if (protocol !== "https:" && protocol !== "http:") throw new Error(`a ${protocol} URI can't be read`);
  const response = await fetch(uri);
  if (!response.ok) throw new Error(`the file's address answered ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}
