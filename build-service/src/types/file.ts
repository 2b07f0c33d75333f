import { posix } from "node:path";
import { FileRecord } from "@agent-env/protocol";
import { z } from "zod";
import { fileBody } from "./file-body.ts";
import type { ArtifactType } from "./type.ts";

const Fields = z.object({ description: z.string() });

/** One file. */
export const file: ArtifactType = {
  kind: "artifact",
  type: "file",
  tomlKeys: { description: "string" },
  tomlRefs: [],
  accept(_config, context) {
    const only = context.oneFile();
    return { ...(only === null ? {} : { description: posix.basename(only.path) }), ...context.accepted() };
  },
  writes: "folder",
  childSuffixes: () => [],
  async writeFolder(fields, folder) {
    const [only] = folder.files;
    if (only === undefined) throw new Error(`${folder.id}: its file is gone`);
    return fileBody(only, folder, Fields.parse(fields).description);
  },
  read(record) {
    const { description, filename } = FileRecord.parse(record);
    return { description: description ?? filename };
  },
  async export(record, out) {
    await out.file(FileRecord.parse(record).filename, record);
    return file.read(record);
  },
};
