import { FileUniverseRecord } from "@agent-env/protocol";
import { sha256Hex } from "../bundle/ids.ts";
import { fileBody } from "./file-body.ts";
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
  childSuffixes: (_fields, files) => files.map(({ path }) => suffix(path)),
  async writeFolder(_fields, folder) {
    const refs: [string, { id: string; version: number }][] = [];
    for (const file of folder.files) refs.push([file.path, await folder.child(suffix(file.path), "file", await fileBody(file, folder))]);
    return {
      file_artifact_refs: Object.fromEntries(refs),
      file_artifact_ids: Object.fromEntries(refs.map(([path, { id }]) => [path, id])),
      bundle_object_url: null,
    };
  },
  read(record) {
    FileUniverseRecord.parse(record);
    return {};
  },
};

function suffix(path: string): string {
  return sha256Hex(path).slice(0, 16);
}
