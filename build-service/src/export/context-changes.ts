import type { FolderEntry } from "../bundle/bundle.ts";
import { entrySources } from "../bundle/entry-sources.ts";
import { sha256Hex } from "../bundle/ids.ts";
import { changeReasons } from "../bundle/reasons.ts";
import type { SourceEntry } from "../images/builder.ts";
import { fileDigests } from "../images/context.ts";
import { type FileDigest, sourceDigest, withMode } from "../images/digest.ts";

/** An image whose context was written into the exported folder. */
export type ExportedImage = {
  readonly key: string;
  readonly dockerfile: string;
  readonly platform: string | null;
  readonly digest: string;
  readonly entries: readonly SourceEntry[];
};

/**
 * Which images a bundle would build from other files than those they were exported from, and why: the toml is part of a
 * context unless its ignore file leaves it out, and two contexts in one folder see each other's files.
 */
export function contextChanges(disk: string, images: readonly ExportedImage[]): string[] {
  const entry: FolderEntry = {
    folder: "envs",
    kind: "env",
    name: "exported",
    id: "",
    type: "",
    path: "",
    disk,
    configText: null,
    tomlName: null,
    config: {},
  };
  const sources = entrySources(disk, entry);
  return images.flatMap((image) => {
    const { key, dockerfile } = image;
    const now = fileDigests(sources.context({ key, dockerfile }).files, disk);
    if (sourceDigest({ dockerfile, platform: image.platform, files: now }) === image.digest) return [];
    const reasons = changeReasons(inputs(filesOf(image.entries)), inputs(now));
    return [`${key}: ${reasons.length === 0 ? "links or empty folders, which a bundle doesn't know" : reasons.join("; ")}`];
  });
}

function filesOf(entries: readonly SourceEntry[]): Record<string, FileDigest> {
  return Object.fromEntries(
    entries.flatMap((entry) => (entry.kind === "file" ? [[entry.path, withMode(sha256Hex(entry.bytes()), entry.executable)]] : [])),
  );
}

const inputs = (files: Record<string, FileDigest>) => ({ type: "", config: "", files, needs: {}, store_refs: {} });
