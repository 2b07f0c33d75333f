import { posix } from "node:path";
import { derivedId, EnvironmentRecord, FileRecord } from "@agent-env/protocol";
import { z } from "zod";
import { EnvironmentName } from "./environment-name.ts";
import { fileBody } from "./file-body.ts";
import { pinnedRef, Ref, versionedRef } from "./refs.ts";
import type { ArtifactType, FolderWriter } from "./type.ts";

const Fields = z.object({ environment_name: z.string(), file: Ref.optional(), description: z.string().optional() });

/** Data for the server of that name: the folder's own file, or a `file` artifact. */
export const environment: ArtifactType = {
  kind: "artifact",
  type: "environment",
  tomlKeys: { environment_name: "string", file: "ref", description: "string" },
  tomlRefs: [{ path: "file", kind: "artifact", types: ["file"] }],
  tomlValues: { environment_name: EnvironmentName },
  names: (fields) => [Fields.parse(fields).environment_name],
  accept(config, context) {
    const fields = context.accepted();
    const name = fields["environment_name"];
    if (config["environment_name"] === undefined || (name !== undefined && !EnvironmentName.safeParse(name).success)) {
      context.problem("environment", "environment_name: names no server: write the name of the one that the data is for");
    }
    if (config["file"] === undefined) {
      const own = context.oneFile();
      return own === null || fields["description"] !== undefined ? fields : { ...fields, description: posix.basename(own.path) };
    }
    if (context.files().length > 0) {
      context.problem("environment", "has a file of its own, and `file` names another: keep one of the two", "entry");
    }
    if (config["description"] !== undefined) {
      context.problem("environment", "description: describes the folder's own file, and `file` names another: remove it");
    }
    return fields;
  },
  writes: "folder",
  childSuffixes: (_fields, files) => (files.length > 0 ? ["file"] : []),
  async writeFolder(fields, folder, load) {
    const { environment_name, file, description } = Fields.parse(fields);
    const file_artifact_ref = file === undefined ? await ownFile(folder, description) : versionedRef(await load.artifact(file));
    return { environment_name, service_name: environment_name, file_artifact_ref };
  },
  read(record) {
    const { environment_name, file_artifact_ref } = EnvironmentRecord.parse(record);
    return { environment_name, file: pinnedRef("artifact", file_artifact_ref) };
  },
  async export(record, out) {
    const { id, environment_name, file_artifact_ref } = EnvironmentRecord.parse(record);
    if (file_artifact_ref.id !== derivedId(id, "file")) return environment.read(record);
    const own = FileRecord.parse(await out.artifact(file_artifact_ref));
    await out.file(own.filename, own);
    return { environment_name, description: own.description ?? own.filename };
  },
};

async function ownFile(folder: FolderWriter, description: string | undefined) {
  const [own] = folder.files;
  if (own === undefined) throw new Error(`${folder.id}: its file is gone`);
  return folder.child("file", "file", await fileBody(own, folder, description));
}
