import { UserError } from "@agent-env/protocol";
import { z } from "zod";
import type { StoreSide } from "./store.ts";

const text = new TextDecoder("utf-8", { fatal: true });

/** The JSON object at `key`, read by `schema`; null where nothing is. Throws a UserError that names the key otherwise. */
export async function readJson<Schema extends z.ZodType>(side: StoreSide, key: string, schema: Schema): Promise<z.infer<Schema> | null> {
  const found = await side.objects.get(key);
  return found === null ? null : parseStored(key, found.bytes, schema);
}

/** Bytes of the store as JSON of that shape. Throws a UserError that names the key when they are not. */
export function parseStored<Schema extends z.ZodType>(key: string, bytes: Uint8Array, schema: Schema): z.infer<Schema> {
  const read = readStored(bytes, schema);
  if ("value" in read) return read.value;
  const { error } = read;
  throw new UserError(
    {
      what: `${key}: stored, but it can't be read`,
      why: error instanceof z.ZodError ? z.prettifyError(error) : String(error),
      next: "something else changed it: remove the state folder, and run its bundle again: agent-env run <bundle>",
    },
    { cause: error },
  );
}

/** Bytes of the store as JSON of that shape, or why they are none. */
export function readStored<Schema extends z.ZodType>(
  bytes: Uint8Array,
  schema: Schema,
): { readonly value: z.infer<Schema> } | { readonly error: Error } {
  try {
    const { data, error } = schema.safeParse(JSON.parse(text.decode(bytes)));
    return error === undefined ? { value: data } : { error };
  } catch (error) {
    // Of `decode` what is no UTF-8, of `parse` what is no JSON.
    if (error instanceof TypeError || error instanceof SyntaxError) return { error };
    throw error;
  }
}
