import { text } from "node:stream/consumers";
import { extract } from "tar-stream";

/** The text of one file of a tar, or null when it holds none of that path. */
export async function fileInTar(tar: Uint8Array, path: string): Promise<string | null> {
  const entries = extract();
  entries.end(tar);
  for await (const entry of entries) {
    if (entry.header.type === "file" && entry.header.name === path) {
      const content = await text(entry);
      entries.destroy();
      return content;
    }
    entry.resume();
  }
  return null;
}
