/** Names that stored artifacts have for what an author writes otherwise (4-bundle §4.4). */
const INSTEAD: Readonly<Record<string, string>> = {
  service_name: "environment_name",
  file_artifact_id: "`file`",
  file_artifact_ref: "`file`",
  service_artifact_refs: "`environment_artifacts`, or a folder per environment",
  environment_artifact_refs: "`environment_artifacts`, or a folder per environment",
  service_artifact_ids: "`environment_artifacts`, or a folder per environment",
  metadata: "the folder metadata/<key>/ of an environment_universe",
  metadata_refs: "the folder metadata/<key>/ of an environment_universe",
};

/** What to write instead of a stored artifact's name; undefined for a key that is no such name. */
export function insteadOfStoredName(key: string): string | undefined {
  return Object.hasOwn(INSTEAD, key) ? INSTEAD[key] : undefined;
}
