import { createHash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import { byCodePoint } from "../bundle/code-points.ts";
import type { OtherItem } from "../bundle/folder-files.ts";
import { sha256Hex } from "../bundle/ids.ts";

/**
 * Of a file, as a context or a ledger row shows it: `sha256:<hex>`, with `+x` appended when it is executable. A put's
 * context has two more: `link:<target>`, and `folder` for an empty one.
 */
export type FileDigest = string;
const EMPTY_FOLDER: FileDigest = "folder";
const LINK = "link:";

const chunk = Buffer.allocUnsafe(1024 * 1024);

/**
 * A file's digest. Read synchronously, in steps of 1 MiB: for thousands of small files that takes a fifth of the time, and
 * a large one never lies in memory whole.
 */
export function fileDigest(file: { readonly disk: string; readonly executable: boolean }): FileDigest {
  const hash = createHash("sha256");
  const descriptor = openSync(file.disk, "r");
  try {
    for (let read = readSync(descriptor, chunk); read > 0; read = readSync(descriptor, chunk)) hash.update(chunk.subarray(0, read));
  } finally {
    closeSync(descriptor);
  }
  return withMode(hash.digest("hex"), file.executable);
}

export function withMode(hex: string, executable: boolean): FileDigest {
  return `sha256:${hex}${executable ? "+x" : ""}`;
}

/** What a folder that is taken as it is holds beside files, as digests by path. */
export function otherDigests(others: readonly OtherItem[]): Record<string, FileDigest> {
  return Object.fromEntries(others.map((item) => [item.path, item.is === "folder" ? EMPTY_FOLDER : `${LINK}${item.target}`]));
}

/** One line of a context: `[path, mode, hex sha256]`, null for a folder's, `link:<target>` for a link's. */
export type ContextEntry = readonly [path: string, mode: "644" | "755" | "777", content: string | null];

/** Where an entry of a context leads, if it is a link. */
export function linkTarget([, , content]: ContextEntry): string | null {
  return content?.startsWith(LINK) ? content.slice(LINK.length) : null;
}

/** The context's entries by code point of their path: each file, and each folder that holds one (4-bundle §10.1). */
export function contextEntries(files: Readonly<Record<string, FileDigest>>): ContextEntry[] {
  const entries = new Map<string, ContextEntry>();
  for (const [path, digest] of Object.entries(files)) {
    for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) {
      const folder = path.slice(0, slash);
      entries.set(folder, [folder, "755", null]);
    }
    entries.set(path, entryOf(path, digest));
  }
  return [...entries.values()].sort(([a], [b]) => byCodePoint(a, b));
}

function entryOf(path: string, digest: FileDigest): ContextEntry {
  if (digest === EMPTY_FOLDER) return [path, "755", null];
  return digest.startsWith(LINK) ? [path, "777", digest] : [path, digest.endsWith("+x") ? "755" : "644", hexOf(digest)];
}

/** The source digest of an image, scheme 1: 64 hex digits. */
export function sourceDigest(source: {
  readonly dockerfile: string;
  readonly platform: string | null;
  readonly files: Readonly<Record<string, FileDigest>>;
}): string {
  const { dockerfile, platform, files } = source;
  return sha256Hex(JSON.stringify({ scheme: 1, dockerfile, platform, entries: contextEntries(files) }));
}

/** The hash in a file's digest. */
export function hexOf(digest: FileDigest): string {
  return digest.slice("sha256:".length, "sha256:".length + 64);
}
