import type { AnyRecord, Kind, ServerKind, VersionedRef } from "@agent-env/protocol";
import type { z } from "zod";
import type { EntryFile } from "../bundle/folder-files.ts";
import type { AcceptContext } from "./accept-context.ts";

/** What a key of a toml takes. `ref`: a reference or an image value, checked as the type's `tomlRefs` say. */
export type KeyKind = "string" | "number" | "boolean" | "list" | "table" | "ref";

/** A reference that a toml declares. The path starts at one of `tomlKeys`; `[]` stands for each element of a list. */
export type TomlRef = {
  readonly path: string;
  readonly kind: Kind;
  /** Types of that kind that the key takes; left out = any. */
  readonly types?: readonly string[];
};

/** A reference in accepted fields: an id, or an id with a pinned version under its kind's name. */
export type RefValue = string | { readonly [kind: string]: string | number };

/** A toml's own keys, references already resolved to ids. Nothing in it is judged yet. */
export type Config = Readonly<Record<string, unknown>>;

/** The accepted fields of an entry: defaults filled in, references as ids. What the ledger calls its config. */
export type Fields = { readonly [key: string]: FieldValue };
export type FieldValue = string | number | boolean | null | RefValue | readonly FieldValue[] | Fields;

/** A record without what every version has: id, type, version. */
export type RecordBody = Readonly<Record<string, unknown>>;

/** Gives the records that a type declares references to, at the versions that the plan read or wrote; throws for others. */
export type Load = {
  env(ref: unknown): Promise<AnyRecord>;
  artifact(ref: unknown): Promise<AnyRecord>;
};

/** What a type that writes its folder's files gets: each file as a blob, and records of its own beside the main one. */
export type FolderWriter = {
  readonly id: string;
  readonly files: readonly EntryFile[];
  /** Puts the file's bytes into the store. */
  blob(file: EntryFile): Promise<{ readonly objectUrl: string; readonly sha256: string; readonly size: number }>;
  /** Puts a tar of all the files into the store, the same on every machine; gives where it lies. */
  archive(): Promise<string>;
  /** Writes a child's record under `<id>__<suffix>`, or gives the one that already says the same. */
  child(suffix: string, type: string, body: RecordBody): Promise<VersionedRef>;
};

/** The folder that a stored version is exported as (4-bundle §12), before it is on a disk. */
export type FolderOut = {
  /** The record of an artifact that the exported one names. */
  artifact(ref: VersionedRef): Promise<AnyRecord>;
  /** Takes the bytes of a `file` record as the file at `path`. */
  file(path: string, file: AnyRecord): Promise<void>;
  /** Takes all that an archive holds, which `objectUrl` names. */
  archive(objectUrl: string): Promise<void>;
};

type Common = {
  readonly type: string;
  /** In the order that is shown to authors. */
  readonly tomlKeys: Readonly<Record<string, KeyKind>>;
  readonly tomlRefs: readonly TomlRef[];
  /** What a key's value must be beyond its kind. `accept` judges by it, and the JSON schema shows it. */
  readonly tomlValues?: Readonly<Record<string, z.ZodType>>;
  /** Judges an entry by its toml, references already resolved, and its files; what is wrong goes to `context.problem`. */
  accept(config: Config, context: AcceptContext): Fields | Promise<Fields>;
  /** The fields that a stored version was written from, its references pinned. */
  read(record: AnyRecord): Fields;
  /**
   * Gives the folder's files to `out`, and the fields that its toml has. Left out: the fields are what `read` gives, and
   * there are no files but what images are built from.
   */
  export?(record: AnyRecord, out: FolderOut): Promise<Fields>;
};

/** Written from its fields and what they reference, and from nothing else. */
type WritesRecord = { readonly writes: "record"; write(fields: Fields, load: Load): Promise<RecordBody> };
/** Written from the files of its folder too. `childSuffixes` are the records beside the main one, known before writing. */
type WritesFolder = {
  readonly writes: "folder";
  writeFolder(fields: Fields, folder: FolderWriter, load: Load): Promise<RecordBody>;
  childSuffixes(fields: Fields, files: readonly EntryFile[]): readonly string[];
};
/** The folder is an image, built under the entry's own id. */
type WritesImage = { readonly writes: "image" };

/** How an env becomes servers: it is one, named by `environment_name`, or it lists others in those fields. */
export type Topology = { readonly server: ServerKind } | { readonly lists: Readonly<Record<string, ServerKind>> };

export type EnvType = Common & { readonly kind: "env"; readonly topology: Topology } & (WritesRecord | WritesFolder);
export type ArtifactType = Common & {
  readonly kind: "artifact";
  readonly names?: EnvironmentNames;
  /** Left out: true. False: no toml can ask for the type, it comes with a folder of its own. */
  readonly hasToml?: boolean;
} & (WritesRecord | WritesFolder | WritesImage);
export type EvalType = Common & { readonly kind: "eval" } & WritesRecord;
export type AgentType = Common & { readonly kind: "agent" } & WritesRecord;

/** For data of servers: the servers' names in its own fields and files, without those that it references. */
export type EnvironmentNames = (fields: Fields, files: readonly EntryFile[]) => readonly string[];

/** A type that a bundle's toml can have: one file, and one line in the registry. */
export type BundleType = EnvType | ArtifactType | EvalType | AgentType;
