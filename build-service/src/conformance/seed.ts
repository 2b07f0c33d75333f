import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { isJsonObject, jsonOf, type Part, UserError } from "@agent-env/protocol";

/** A file as data to load: a JSON object as a data part, anything else as a file with bytes. */
export function seedIn(path: string): Part[] {
  const bytes = bytesOf(path);
  const value = jsonOf(bytes.toString("utf8"));
  if (isJsonObject(value)) return [{ kind: "data", data: value }];
  return [{ kind: "file", file: { bytes: bytes.toString("base64"), name: basename(path) } }];
}

function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new UserError(
      {
        what: `--seed ${JSON.stringify(path)}: can't be read`,
        why: error instanceof Error ? error.message : String(error),
        next: "name a file with data that the environment takes",
        exitCode: 2,
      },
      { cause: error },
    );
  }
}
