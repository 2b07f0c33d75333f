import { readFileSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import { UserError } from "@agent-env/protocol";
import { pack } from "tar-stream";
import { ioReason } from "../bundle/config-file.ts";
import type { EntryFile, OtherItem } from "../bundle/folder-files.ts";
import { sha256Hex } from "../bundle/ids.ts";
import { NEVER_ABORTED, pauses } from "../bundle/pauses.ts";
import type { ImageSource, SourceEntry } from "./builder.ts";
import { contextEntries, type FileDigest, fileDigest, linkTarget, otherDigests, sourceDigest } from "./digest.ts";

/**
 * The files' digests by path. Throws a UserError when a file can't be read. `known` holds digests by place on the disk:
 * they are used, and added to.
 */
export function fileDigests(files: readonly EntryFile[], shown: string, known = new Map<string, FileDigest>()): Record<string, FileDigest> {
  const digestOf = (file: EntryFile): FileDigest => {
    const digest = known.get(file.disk) ?? readableDigest(file, shown);
    known.set(file.disk, digest);
    return digest;
  };
  return Object.fromEntries(files.map((file) => [file.path, digestOf(file)]));
}

function readableDigest(file: EntryFile, shown: string): FileDigest {
  try {
    return fileDigest(file);
  } catch (error) {
    throw new UserError(
      { what: `${shown}/${file.path}: can't be read`, why: String(error), next: "make it readable, then try again" },
      { cause: error },
    );
  }
}

/** What an image is built from: those files, as they are now. `shown` is their folder, for messages. */
export function imageSource(options: {
  readonly files: readonly EntryFile[];
  readonly others?: readonly OtherItem[];
  readonly dockerfile: string;
  readonly platform: string | null;
  readonly shown: string;
  readonly digests?: Map<string, FileDigest>;
}): ImageSource {
  const { files, others = [], dockerfile, platform, shown } = options;
  const digests = { ...fileDigests(files, shown, options.digests), ...otherDigests(others) };
  const dockerfileDisk = files.find(({ path }) => path === dockerfile)?.disk;
  if (dockerfileDisk === undefined) throw new Error(`${shown}: ${dockerfile} isn't in its own context`);
  return {
    digest: sourceDigest({ dockerfile, platform, files: digests }),
    dockerfile,
    dockerfileText: readFileSync(dockerfileDisk, "utf8"),
    platform,
    files: digests,
    entries: async () => lookedInto(digests, bytesIn(files, shown)),
    tar: (signal) => packedContext(digests, bytesIn(files, shown), signal),
  };
}

type BytesOf = (path: string, sha256: string) => Buffer;

/** Gives exactly the bytes that were hashed: throws a UserError when a file has changed since. */
function bytesIn(files: readonly EntryFile[], shown: string): BytesOf {
  const disks = new Map(files.map(({ path, disk }) => [path, disk]));
  return (path, sha256) => hashedBytes(disks.get(path) ?? path, sha256, `${shown}/${path}`);
}

/** A context's entries, to be looked into without packing it. */
export function lookedInto(digests: Readonly<Record<string, FileDigest>>, bytesOf: BytesOf): SourceEntry[] {
  return contextEntries(digests).map((entry) => {
    const [path, mode, sha256] = entry;
    const target = linkTarget(entry);
    if (target !== null) return { kind: "link", path, target };
    if (sha256 === null) return { kind: "folder", path };
    return { kind: "file", path, executable: mode === "755", bytes: () => bytesOf(path, sha256) };
  });
}

/** A context as a tar that is the same on every machine: sorted, without times and owners, two modes (4-bundle §10.2). */
export async function packedContext(
  digests: Readonly<Record<string, FileDigest>>,
  bytesOf: BytesOf,
  signal: AbortSignal = NEVER_ABORTED,
): Promise<Uint8Array> {
  const pause = pauses(signal);
  const tar = pack();
  for (const entry of contextEntries(digests)) {
    const [path, mode, sha256] = entry;
    const target = linkTarget(entry);
    const header = { mode: Number.parseInt(mode, 8), mtime: new Date(0), uid: 0, gid: 0, uname: "", gname: "" };
    if (target !== null) tar.entry({ ...header, name: path, type: "symlink", linkname: target });
    else if (sha256 === null) tar.entry({ ...header, name: `${path}/`, type: "directory" });
    else tar.entry({ ...header, name: path, type: "file" }, bytesOf(path, sha256));
    await pause();
  }
  tar.finalize();
  return buffer(tar);
}

/** The file's bytes, if they still are those that were hashed. */
export function hashedBytes(disk: string, sha256: string, shown: string): Buffer {
  const { bytes, why } = bytesAt(disk);
  if (bytes !== null && sha256Hex(bytes) === sha256) return bytes;
  throw new UserError({
    what: `${shown}: changed after the run had read it`,
    why: why ?? "what is written must be what was planned",
    next: "run the command again",
  });
}

function bytesAt(disk: string): { readonly bytes: Buffer; readonly why: null } | { readonly bytes: null; readonly why: string } {
  try {
    return { bytes: readFileSync(disk), why: null };
  } catch (error) {
    return { bytes: null, why: `it can't be read any more: ${ioReason(error)}` };
  }
}
