import {
  derivedId,
  EnvironmentRecord,
  EnvironmentUniverseRecord,
  FileRecord,
  foldName,
  idSegmentProblem,
  type VersionedRef,
} from "@agent-env/protocol";
import { z } from "zod";
import type { EntryFile } from "../bundle/folder-files.ts";
import { sha256Hex } from "../bundle/ids.ts";
import type { AcceptContext } from "./accept-context.ts";
import { fileBody } from "./file-body.ts";
import { pinnedRef, Ref, versionedRef } from "./refs.ts";
import type { ArtifactType, FolderOut } from "./type.ts";

const Fields = z.object({ environment_artifacts: z.array(Ref) });

/** What lies in one folder of a universe: the folders' names joined by `/`, and the one file in them. */
type Part = { readonly name: string; readonly file: EntryFile };

/** Data for several servers, a folder each, and files about the whole in `metadata/`. */
export const environmentUniverse: ArtifactType = {
  kind: "artifact",
  type: "environment_universe",
  tomlKeys: { environment_artifacts: "list" },
  tomlRefs: [{ path: "environment_artifacts[]", kind: "artifact", types: ["environment"] }],
  names: (_fields, files) => environments(files).map(({ name }) => name),
  accept(_config, context) {
    const fields = { environment_artifacts: [], ...context.accepted() };
    checkFolders(context);
    const named: unknown = fields.environment_artifacts;
    if (environments(context.files()).length === 0 && Array.isArray(named) && named.length === 0) {
      context.problem("universe", "holds no environment: add a folder with a file for each server, or list environment_artifacts", "entry");
    }
    return fields;
  },
  writes: "folder",
  childSuffixes: (_fields, files) => [
    ...environments(files).flatMap(({ name }) => [partSuffix(name), `${partSuffix(name)}__file`]),
    ...metadata(files).map(({ name }) => `metadata__${partSuffix(name)}`),
  ],
  async writeFolder(fields, folder, load) {
    const refs: VersionedRef[] = [];
    for (const { name, file } of environments(folder.files)) {
      const suffix = partSuffix(name);
      const file_artifact_ref = await folder.child(`${suffix}__file`, "file", await fileBody(file, folder));
      refs.push(await folder.child(suffix, "environment", { environment_name: name, service_name: name, file_artifact_ref }));
    }
    for (const ref of Fields.parse(fields).environment_artifacts) refs.push(versionedRef(await load.artifact(ref)));
    const about: [string, VersionedRef][] = [];
    for (const { name, file } of metadata(folder.files)) {
      about.push([name, await folder.child(`metadata__${partSuffix(name)}`, "file", await fileBody(file, folder))]);
    }
    return {
      environment_artifact_refs: refs,
      service_artifact_refs: refs,
      metadata_refs: about.length === 0 ? null : Object.fromEntries(about),
    };
  },
  read(record) {
    const { environment_artifact_refs } = EnvironmentUniverseRecord.parse(record);
    return { environment_artifacts: environment_artifact_refs.map((ref) => pinnedRef("artifact", ref)) };
  },
  async export(record, out) {
    const { id, environment_artifact_refs, metadata_refs } = EnvironmentUniverseRecord.parse(record);
    const isOwn = (ref: VersionedRef): boolean => ref.id.startsWith(derivedId(id, ""));
    for (const ref of environment_artifact_refs.filter(isOwn)) {
      const { environment_name, file_artifact_ref } = EnvironmentRecord.parse(await out.artifact(ref));
      await exportPart(environment_name, file_artifact_ref, out);
    }
    for (const [key, ref] of Object.entries(metadata_refs ?? {})) await exportPart(`${METADATA}${key}`, ref, out);
    const named = environment_artifact_refs.filter((ref) => !isOwn(ref));
    return { environment_artifacts: named.map((ref) => pinnedRef("artifact", ref)) };
  },
};

async function exportPart(folder: string, ref: VersionedRef, out: FolderOut): Promise<void> {
  const file = FileRecord.parse(await out.artifact(ref));
  await out.file(`${folder}/${file.filename}`, file);
}

const METADATA = "metadata/";

function environments(files: readonly EntryFile[]): Part[] {
  return parts(
    files.filter(({ path }) => !path.startsWith(METADATA)),
    "",
  );
}

function metadata(files: readonly EntryFile[]): Part[] {
  return parts(
    files.filter(({ path }) => path.startsWith(METADATA)),
    METADATA,
  );
}

function parts(files: readonly EntryFile[], below: string): Part[] {
  return files
    .map((file) => ({ name: file.path.slice(below.length, file.path.lastIndexOf("/")), file }))
    .filter(({ name, file }) => file.path.slice(below.length).includes("/") && name !== "");
}

/** A name as the suffix of an id; one that can't be part of an id is hashed. */
function partSuffix(name: string): string {
  const fits = !name.includes("__") && idSegmentProblem(name) === null;
  return fits ? name : `sha256__${sha256Hex(name).slice(0, 16)}`;
}

function checkFolders(context: AcceptContext): void {
  for (const { path, is } of context.listing()) {
    if (is === "folder") context.problem("universe", "holds no file, and an environment has one", { path });
  }
  const folders = Map.groupBy(context.files(), ({ path }) => path.slice(0, Math.max(0, path.lastIndexOf("/"))));
  for (const [folder, files] of folders) {
    const place = { path: files[0]?.path ?? folder };
    if (folder === "") context.problem("universe", "lies at the top: put it into a folder named for its server", place);
    else if (folder === "metadata") context.problem("universe", "lies in metadata/ itself: put it into metadata/<key>/", place);
    else if (files.length > 1) context.problem("universe", `holds ${files.length} files, and an environment has one`, { path: folder });
    else checkMetadataSpelling(folder, context);
    const inner = [...folders.keys()].find((other) => folder !== "" && folder !== "metadata" && other.startsWith(`${folder}/`));
    if (inner !== undefined)
      context.problem("universe", `holds a file and the folder ${inner}: a folder is one environment`, { path: folder });
  }
}

function checkMetadataSpelling(folder: string, context: AcceptContext): void {
  const [top = ""] = folder.split("/");
  if (top !== "metadata" && foldName(top) === "metadata") {
    context.problem("universe", "rename it to metadata: names are case-sensitive", { path: top });
  }
}
