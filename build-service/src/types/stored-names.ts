import type { AcceptContext } from "./accept-context.ts";
import type { Config } from "./type.ts";

/** Names that stored documents have, and what an author writes instead (4-bundle §4.4). */
const INSTEAD: Readonly<Record<string, string>> = {
  service_name: "environment_name",
  file_artifact_id: "`file`",
  file_artifact_ref: "`file`",
  service_artifact_refs: "`environment_artifacts`, or a folder per environment",
  environment_artifact_refs: "`environment_artifacts`, or a folder per environment",
  service_artifact_ids: "`environment_artifacts`, or a folder per environment",
  metadata: "the folder metadata/<key>/",
  metadata_refs: "the folder metadata/<key>/",
};

/** Refuses the names of stored documents, each with the key or folder to write instead. */
export function refuseStoredNames(config: Config, context: AcceptContext): void {
  for (const key of Object.keys(config)) {
    const instead = INSTEAD[key];
    if (instead !== undefined) context.problem("environment", `${key}: is how the store calls it: write ${instead}`);
  }
}

/** Whether a key is refused by `refuseStoredNames`, so that it isn't unknown as well. */
export function isStoredName(key: string): boolean {
  return INSTEAD[key] !== undefined;
}
