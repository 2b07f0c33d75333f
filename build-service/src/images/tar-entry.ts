import { buffer, text } from "node:stream/consumers";
import { extract, pack } from "tar-stream";

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

/** A tar with another content for one of its files; everything else in it, and the order, stay. */
export async function withFile(tar: Uint8Array, path: string, content: string): Promise<Uint8Array> {
  const entries = extract();
  entries.end(tar);
  const packed = pack();
  for await (const entry of entries) {
    const { header } = entry;
    const bytes = header.type === "file" && header.name === path ? Buffer.from(content) : await buffer(entry);
    packed.entry({ ...header, size: bytes.length }, bytes);
    entry.resume();
  }
  packed.finalize();
  return buffer(packed);
}
