import { EnvironmentRecord, EnvironmentUniverseRecord, UserError } from "@agent-env/protocol";
import { z } from "zod";
import { deployed } from "../deployed.ts";
import { loadSeed } from "../seeds.ts";
import type { TaskContext } from "../task-context.ts";
import { stepOf } from "./step.ts";

/** Environments of a universe that are loaded at once (5-run §5.10). */
const AT_ONCE = 4;

const Fields = z.object({
  artifacts: z.array(z.object({ id: z.string().min(1), version: z.int().positive().nullish() })).nullish(),
  artifact_id: z.string().min(1).nullish(),
  artifact_version: z.int().positive().nullish(),
  env_id: z.string().min(1),
  env_step_id: z.string().min(1).nullish(),
});

/** Data into the servers of a deployed env: each seed goes to the server of its `environment_name`. */
export const loadArtifactStep = stepOf({
  type: "load_artifact",
  fields: Fields,
  idle: ["env_step_id"],
  entityRefs: [
    { path: "artifacts[].id", kind: "artifact", versionPath: "artifacts[].version", types: ["environment", "environment_universe"] },
    { path: "artifact_id", kind: "artifact", versionPath: "artifact_version", types: ["environment", "environment_universe"] },
    { path: "env_id", kind: "env" },
  ],
  check(fields) {
    const several = (fields.artifacts ?? []).length > 0;
    const one = typeof fields.artifact_id === "string";
    if (several && one) return ["artifacts and artifact_id exclude each other: put all of them into artifacts"];
    if (!several && !one) return ["names nothing to load: set artifact_id or artifacts"];
    return [];
  },
  async run(fields, context) {
    const deployment = deployed(context, fields.env_id);
    const named = fields.artifacts ?? [{ id: fields.artifact_id ?? "", version: fields.artifact_version }];
    const seeds = (await Promise.all(named.map(({ id, version }) => seedsOf(context, id, version ?? null)))).flat();
    for (let first = 0; first < seeds.length; first += AT_ONCE) {
      await Promise.all(seeds.slice(first, first + AT_ONCE).map((seed) => loadSeed(deployment, seed, context)));
    }
    return `loaded ${seeds.map((seed) => seed.environment_name).join(", ")}`;
  },
});

async function seedsOf(context: TaskContext, id: string, version: number | null): Promise<EnvironmentRecord[]> {
  const record = await context.entity("artifact", id, version);
  if (record.type === "environment") return [EnvironmentRecord.parse(record)];
  if (record.type === "environment_universe") {
    const refs = EnvironmentUniverseRecord.parse(record).environment_artifact_refs;
    return Promise.all(refs.map(async (ref) => EnvironmentRecord.parse(await context.entity("artifact", ref.id, ref.version))));
  }
  throw new UserError({
    what: `${id}: is an artifact of type ${record.type}, and an env takes data of type environment or environment_universe`,
    why: "files are for sandboxes and agents",
    next: "give the artifact the type environment, or load another",
  });
}
