import { posix } from "node:path";
import type { EntryFile } from "../bundle/folder-files.ts";
import { contentType } from "./content-type.ts";
import type { FolderWriter, RecordBody } from "./type.ts";

/** The body of a `file` record over a file of the folder, its bytes put into the store first. */
export async function fileBody(file: EntryFile, folder: FolderWriter, description?: string): Promise<RecordBody> {
  const filename = posix.basename(file.path);
  const { objectUrl, sha256, size } = await folder.blob(file);
  return {
    description: description ?? filename,
    filename,
    content_type: contentType(filename),
    object_url: objectUrl,
    s3_url: objectUrl,
    sha256,
    size,
  };
}
