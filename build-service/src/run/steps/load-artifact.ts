import { EnvironmentRecord, EnvironmentUniverseRecord, UserError } from "@agent-env/protocol";
import { z } from "zod";
import { deployed } from "../deployed.ts";
import { loadSeed } from "../seeds.ts";
import type { TaskContext } from "../task-context.ts";
import { chosen, Name, oneOf, Version } from "./field-schemas.ts";
import { stepOf } from "./step.ts";

/** Environments of a universe that are loaded at once (5-run §5.10). */
const AT_ONCE = 4;

const Fields = z.object({
  artifacts: z.array(z.object({ id: Name, version: Version })).nullish(),
  artifact_id: Name.nullish(),
  artifact_version: Version,
  urls: z.array(z.union([Name, z.object({ url: Name, filename: Name.nullish() })])).nullish(),
  artifact_from_step_id: Name.nullish(),
  collected_artifacts_step_id: Name.nullish(),
  env_id: Name.nullish(),
  env_step_id: Name.nullish(),
  agent_name: Name.nullish(),
  sandbox_name: Name.nullish(),
  container_name: Name.nullish(),
  destination_path: Name.nullish(),
});
type Fields = z.infer<typeof Fields>;

/** What an env's servers load. */
const ENV_DATA = ["environment", "environment_universe"];
const FROM_STEP = ["artifact_from_step_id", "collected_artifacts_step_id"];

/** Data into the servers of a deployed env: each seed goes to the server of its `environment_name`. */
export const loadArtifactStep = stepOf({
  type: "load_artifact",
  fields: Fields,
  idle: ["env_step_id"],
  later: ["snapshot_after_load"],
  entityRefs: [
    { path: "artifacts[].id", kind: "artifact", versionPath: "artifacts[].version", types: ENV_DATA, typesWith: "env_id" },
    { path: "artifact_id", kind: "artifact", versionPath: "artifact_version", types: ENV_DATA, typesWith: "env_id" },
    { path: "env_id", kind: "env" },
  ],
  check: (fields) => [...sourceProblems(fields), ...targetProblems(fields)],
  notRunYet(fields) {
    const target = chosen(fields, ["agent_name", "sandbox_name"]);
    return [...target, ...chosen(fields, FROM_STEP)].map((name) => `a load_artifact step with ${name}`);
  },
  async run(fields, context) {
    const { env_id } = fields;
    if (typeof env_id !== "string") throw new Error("a load to what is no env passed the preflight");
    const deployment = deployed(context, env_id);
    const named = fields.artifacts ?? [{ id: fields.artifact_id ?? "", version: fields.artifact_version }];
    const seeds = (await Promise.all(named.map(({ id, version }) => seedsOf(context, id, version ?? null)))).flat();
    for (let first = 0; first < seeds.length; first += AT_ONCE) {
      await Promise.all(seeds.slice(first, first + AT_ONCE).map((seed) => loadSeed(deployment, seed, context)));
    }
    return `loaded ${seeds.map((seed) => seed.environment_name).join(", ")}`;
  },
});

function sourceProblems(fields: Fields): string[] {
  const several = (fields.artifacts ?? []).length > 0;
  const urls = (fields.urls ?? []).length > 0;
  const one = typeof fields.artifact_id === "string";
  const earlier = chosen(fields, FROM_STEP);
  if (several && one) return ["artifacts and artifact_id exclude each other: put all of them into artifacts"];
  if (earlier.length > 0 && (several || one || urls))
    return [`${earlier[0]} names all that is loaded: nothing else can be named beside it`];
  if (!several && !one && !urls && earlier.length === 0) return ["names nothing to load: set artifact_id or artifacts"];
  return [];
}

function targetProblems(fields: Fields): string[] {
  const urls = (fields.urls ?? []).length > 0;
  return [
    ...oneOf(fields, ["env_id", "agent_name", "sandbox_name"], "target"),
    ...(urls && typeof fields.env_id === "string" ? ["urls can't be loaded into an env: name an artifact"] : []),
    ...(typeof fields.container_name === "string" && typeof fields.sandbox_name !== "string"
      ? ["container_name is a container in a sandbox: set sandbox_name too"]
      : []),
  ];
}

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
