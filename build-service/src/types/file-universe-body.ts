import type { EntryFile } from "../bundle/folder-files.ts";
import { sha256Hex } from "../bundle/ids.ts";
import { fileBody } from "./file-body.ts";
import type { FolderWriter, RecordBody } from "./type.ts";

/** The suffixes of the ids that the files of a universe get: from each one's path (4-bundle §2.3). */
export function fileUniverseSuffixes(files: readonly EntryFile[], before = ""): string[] {
  return files.map(({ path }) => suffix(path, before));
}

/** The body of a `file_artifact_universe` record over all files of the folder, each written as an artifact first. */
export async function fileUniverseBody(folder: FolderWriter, before = ""): Promise<RecordBody> {
  const refs: [string, { id: string; version: number }][] = [];
  for (const file of folder.files)
    refs.push([file.path, await folder.child(suffix(file.path, before), "file", await fileBody(file, folder))]);
  return {
    file_artifact_refs: Object.fromEntries(refs),
    file_artifact_ids: Object.fromEntries(refs.map(([path, { id }]) => [path, id])),
    bundle_object_url: null,
  };
}

function suffix(path: string, before: string): string {
  return `${before}${sha256Hex(path).slice(0, 16)}`;
}
