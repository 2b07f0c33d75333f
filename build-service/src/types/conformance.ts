import { AnyRecord, type Problem } from "@agent-env/protocol";
import { acceptContext } from "../bundle/accept.ts";
import type { FolderEntry } from "../bundle/bundle.ts";
import { canonicalJson } from "../bundle/canonical.ts";
import { imageKeys } from "./image-keys.ts";
import { pinOf } from "./refs.ts";
import type { Registry } from "./registry.ts";
import type { BundleType, Config, Fields, FieldValue, FolderWriter, KeyKind, Load, RecordBody } from "./type.ts";

const ID = "@local/conformance/entry";

/**
 * What a type does against its own declaration of references (B10, 4-bundle §13.3): one line a finding, none for a type
 * that keeps it. Nothing is stored; what it loads is made up. What the type's own code throws is a finding too.
 */
export async function conformanceFindings(type: BundleType, registry: Registry): Promise<string[]> {
  const keys = keyFindings(type);
  // With a reference at no key, no config can be made that uses it.
  if (keys.length > 0) return keys;
  if (type.kind === "env" && type.writes !== "record") return ["it is an env type and reads its folder, so no bundle can use it"];
  return [
    ...(await thrown("accept", () => closedKeyFindings(type, registry))),
    ...(await thrown("accept", () => valueFindings(type, registry))),
    ...(await thrown("write", () => writeFindings(type))),
  ];
}

async function thrown(what: string, findings: () => Promise<string[]>): Promise<string[]> {
  try {
    return await findings();
  } catch (error) {
    return [`${what} fails: ${error instanceof Error ? error.message : String(error)}`];
  }
}

function keyFindings(type: BundleType): string[] {
  const atNoKey = type.tomlRefs.filter(({ path }) => !(keyOf(path) in type.tomlKeys));
  const elsewhere = type.kind === "eval" ? type.tomlRefs.filter(({ path }) => keyOf(path) !== "tasks") : [];
  return [
    ...atNoKey.map(({ path }) => `the reference ${path} starts at no key that the type takes`),
    ...elsewhere.map(({ path }) => `the reference ${path} of an eval doesn't start at tasks`),
  ];
}

async function closedKeyFindings(type: BundleType, registry: Registry): Promise<string[]> {
  const problems = await accept(type, { ...fullConfig(type), not_a_key: "x" }, registry);
  return problems.some(({ message }) => message.includes('"not_a_key"')) ? [] : ["a key that isn't declared is accepted"];
}

const OF_ANOTHER_KIND: Readonly<Record<Exclude<KeyKind, "ref">, unknown>> = {
  string: 1n,
  number: "x",
  boolean: "x",
  list: "x",
  table: "x",
};

async function valueFindings(type: BundleType, registry: Registry): Promise<string[]> {
  const findings: string[] = [];
  for (const [key, kind] of Object.entries(type.tomlKeys)) {
    // References are judged before a type sees them.
    if (kind === "ref") continue;
    const problems = await accept(type, { ...fullConfig(type), [key]: OF_ANOTHER_KIND[kind] }, registry);
    if (!problems.some(({ message }) => message.startsWith(`${key}:`))) findings.push(`${key}: a value that is no ${kind} is accepted`);
  }
  return findings;
}

async function writeFindings(type: BundleType): Promise<string[]> {
  if (type.writes === "image" || (type.writes === "folder" && type.tomlRefs.length === 0)) return [];
  const fields = fullConfig(type);
  const first = recordingLoad();
  const body = await written(type, fields, first.load);
  const again = await written(type, type.read(recordOf(type, body)), recordingLoad().load);
  return [
    ...(type.kind === "eval" ? taskFindings(type, fields, body) : loadFindings(type, fields, body, first)),
    ...(canonicalJson(again) === canonicalJson(body) ? [] : ["what is read from a record and written again differs from it"]),
  ];
}

/** A type that writes its folder's files is given none: what it references, it loads all the same. */
async function written(type: Exclude<BundleType, { writes: "image" }>, fields: Fields, load: Load): Promise<RecordBody> {
  return type.writes === "record" ? type.write(fields, load) : type.writeFolder(fields, NO_FILES, load);
}

const fileless = async (): Promise<never> => {
  throw new Error("a folder without files has nothing to write");
};
const NO_FILES: FolderWriter = { id: ID, files: [], blob: fileless, archive: fileless, child: fileless };

function loadFindings(type: BundleType, fields: Fields, body: RecordBody, { asked, given }: Recorded): string[] {
  const declared = references(type, fields);
  const loads = canonicalJson(asked.toSorted()) === canonicalJson(declared.toSorted());
  const strangers = versionedIds(body).filter((id) => !given.includes(id) && !id.startsWith(`${ID}__`));
  return [
    ...(loads ? [] : [`write loads ${asked.join(", ")}, and the config references ${declared.join(", ")}`]),
    ...strangers.map((id) => `the record references ${id}, which was not loaded`),
  ];
}

/** An eval loads nothing: its record names its tasks as the config does, pinned or not. */
function taskFindings(type: BundleType, fields: Fields, body: RecordBody): string[] {
  const declared = references(type, fields);
  const named = taskIds(body);
  if (canonicalJson(named.toSorted()) === canonicalJson(declared.toSorted())) return [];
  return [`the record names the tasks ${named.join(", ")}, and the config names ${declared.join(", ")}`];
}

/** Every `{task_id}` in a record, at whatever depth. */
function taskIds(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const own = "task_id" in value && typeof value.task_id === "string" ? [value.task_id] : [];
  return [...own, ...Object.values(value).flatMap(taskIds)];
}

function recordOf(type: BundleType, body: RecordBody): AnyRecord {
  return AnyRecord.parse({ id: ID, version: 1, type: type.type, ...body });
}

/** A config that uses every key, each reference another one, lists with one that is pinned and one that isn't. */
function fullConfig(type: BundleType): Fields {
  return Object.fromEntries(
    Object.entries(type.tomlKeys).map(([key, kind]) => {
      const ref = type.tomlRefs.find(({ path }) => keyOf(path) === key);
      if (ref !== undefined)
        return [key, kind === "list" ? [{ [ref.kind]: `${ID}/${key}/0`, version: 7 }, `${ID}/${key}/1`] : `${ID}/${key}`];
      return [key, key === "env_provider_type" ? "gateway" : OF_THIS_KIND[kind]];
    }),
  );
}

const OF_THIS_KIND: Readonly<Record<KeyKind, FieldValue>> = { string: "text", number: 1, boolean: true, list: [], table: {}, ref: ID };

function references(type: BundleType, fields: Fields): string[] {
  return type.tomlRefs.flatMap(({ path }) => {
    const value: unknown = fields[keyOf(path)];
    return (Array.isArray(value) ? value : [value]).map((ref: unknown) => idOf(type, ref));
  });
}

/** A task's reference is `{ task, version }` when it is pinned, which `pinOf` doesn't know. */
function idOf(type: BundleType, ref: unknown): string {
  if (type.kind === "eval" && typeof ref === "object" && ref !== null && "task" in ref) return String(ref.task);
  return pinOf(ref).id;
}

type Recorded = { readonly load: Load; readonly asked: string[]; readonly given: string[] };

function recordingLoad(): Recorded {
  const asked: string[] = [];
  const given: string[] = [];
  const give = async (ref: unknown): Promise<AnyRecord> => {
    const { id, version } = pinOf(ref);
    asked.push(id);
    given.push(`${id} v${version ?? 5}`);
    return { id, version: version ?? 5, type: "loaded" };
  };
  return { load: { env: give, artifact: give }, asked, given };
}

/** Every `{id, version}` in a record, at whatever depth. */
function versionedIds(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const isRef = "id" in value && "version" in value;
  return [...(isRef ? [`${value.id} v${value.version}`] : []), ...Object.values(value).flatMap(versionedIds)];
}

/** What a type says about an entry that has that config and no folder; its image keys name images. */
async function accept(type: BundleType, config: Config, registry: Registry): Promise<Problem[]> {
  const problems: Problem[] = [];
  const entry: FolderEntry = {
    folder: "envs",
    kind: type.kind,
    name: "entry",
    id: ID,
    type: type.type,
    path: "envs/entry",
    disk: "",
    configText: null,
    tomlName: "env.toml",
    config: {},
  };
  const images = Object.fromEntries(imageKeys(type).map((key) => [key, `${ID}/${key}`]));
  const entity = { what: "entity", entry, type, config: { ...images, ...config }, builds: [], refs: [], problems: [] } as const;
  await type.accept(entity.config, acceptContext({ entity, sources: null, registry, problems }));
  return problems;
}

function keyOf(path: string): string {
  return path.split(/[.[]/)[0] ?? path;
}
