import { posix } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { type DockerImageRecord, UserError } from "@agent-env/protocol";
import { extract } from "tar-stream";
import { readBlob } from "../store/blobs.ts";
import type { Store } from "../store/store.ts";
import type { SourceEntry } from "./builder.ts";
import { WRITE_IMAGE_ANEW } from "./write-anew.ts";

/** An image's build context as it was packed. Throws a UserError where the store has lost it, or it was changed. */
export function readContextTar(store: Store, { id, version, build_context_object_url }: DockerImageRecord): Promise<Uint8Array> {
  return readBlob(store.of(id), build_context_object_url, { of: `${id} v${version}: its build context`, next: WRITE_IMAGE_ANEW });
}

/** What an image's build context holds. Throws a UserError where the store has lost it, or it was changed. */
export async function storedEntries(store: Store, image: DockerImageRecord): Promise<readonly SourceEntry[]> {
  return readContext(await readContextTar(store, image));
}

/**
 * The entries of a stored context. What we write holds files, folders and links with plain relative paths; a tar with
 * anything else in it was made by somebody else, and is refused whole with a `UserError`.
 */
export async function readContext(tar: Uint8Array): Promise<readonly SourceEntry[]> {
  const entries = new Map<string, SourceEntry>();
  const reader = Readable.from([tar]).pipe(extract());
  for await (const entry of reader) {
    const { name, type, mode, linkname } = entry.header;
    const path = name.replace(/\/$/, "");
    if (!isPlain(path)) throw forged(name, "leaves the folder that it is unpacked into, or isn't written plainly");
    const bytes = await buffer(entry);
    if (type === "file" || type === "contiguous-file") {
      entries.set(path, { kind: "file", path, bytes: () => bytes, executable: ((mode ?? 0) & 0o100) !== 0 });
    } else if (type === "directory") entries.set(path, { kind: "folder", path });
    else if (type === "symlink") entries.set(path, { kind: "link", path, target: linkname ?? "" });
    else throw forged(name, `is a ${type}, and a context holds files, folders and symbolic links`);
  }
  return [...entries.values()];
}

function isPlain(path: string): boolean {
  return (
    path !== "" &&
    !path.includes("\0") &&
    !posix.isAbsolute(path) &&
    posix.normalize(path) === path &&
    path !== ".." &&
    !path.startsWith("../")
  );
}

function forged(name: string, reason: string): UserError {
  return new UserError({
    what: `the stored build context holds ${JSON.stringify(name)}, which ${reason}`,
    why: "no context that agent-env writes holds such an entry",
    next: WRITE_IMAGE_ANEW,
  });
}
