import { FileUniverseRecord } from "@agent-env/protocol";
import { fileUniverseBody, fileUniverseSuffixes } from "./file-universe-body.ts";
import type { ArtifactType } from "./type.ts";

/** A tree of files, each an artifact of its own. */
export const fileUniverse: ArtifactType = {
  kind: "artifact",
  type: "file_artifact_universe",
  tomlKeys: {},
  tomlRefs: [],
  accept(_config, context) {
    if (context.files().length === 0) context.problem("no-files", "has no file to write", "entry");
    return context.accepted();
  },
  writes: "folder",
  childSuffixes: (_fields, files) => fileUniverseSuffixes(files),
  writeFolder: (_fields, folder) => fileUniverseBody(folder),
  read(record) {
    FileUniverseRecord.parse(record);
    return {};
  },
  async export(record, out) {
    const { file_artifact_refs } = FileUniverseRecord.parse(record);
    for (const [path, ref] of Object.entries(file_artifact_refs)) await out.file(path, await out.artifact(ref));
    return {};
  },
};
