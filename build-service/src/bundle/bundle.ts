import { join } from "node:path";
import type { Kind } from "@agent-env/protocol";
import type { Locked } from "../images/locked.ts";
import type { TomlTable } from "./toml.ts";

/** The folders of a bundle, in bundle order (4-bundle §1). */
export const KIND_FOLDERS = ["envs", "agents", "artifacts", "skills", "tasks", "evals"] as const;
export type KindFolder = (typeof KIND_FOLDERS)[number];

export const KIND_OF: Readonly<Record<KindFolder, Kind>> = {
  envs: "env",
  agents: "agent",
  artifacts: "artifact",
  skills: "artifact",
  tasks: "task",
  evals: "eval",
};

type CommonEntry = {
  readonly kind: Kind;
  readonly name: string;
  readonly id: string;
  readonly type: string;
  /** `envs/items`, `tasks/easy.json`: what the problems of this entry start with. */
  readonly path: string;
  readonly disk: string;
  /** The config file's text as it was read; null where there is none. */
  readonly configText: string | null;
};

/** An env, agent, artifact or skill: a folder, with or without a toml. */
export type FolderEntry = CommonEntry & {
  readonly folder: "envs" | "agents" | "artifacts" | "skills";
  /** The toml that this folder may have: `env.toml`; null for a skill. */
  readonly tomlName: string | null;
  /** The toml's content without `type` and `id`; empty when there is none. */
  readonly config: TomlTable;
};

export type Step = Readonly<Record<string, unknown>> & { readonly id: string; readonly type: string };
export type TaskEntry = CommonEntry & { readonly folder: "tasks"; readonly steps: readonly Step[] };
export type EvalEntry = CommonEntry & { readonly folder: "evals"; readonly config: TomlTable };
export type Entry = FolderEntry | TaskEntry | EvalEntry;

/** A folder as parsed: nothing in it is resolved or judged yet. */
export type Bundle = {
  /** Its canonical path. */
  readonly disk: string;
  readonly name: string;
  readonly idRoot: string;
  readonly description: string | null;
  /** In bundle order: by kind, then by code point of the name. */
  readonly entries: readonly Entry[];
  /** Base images that its lock file fixes; left out: none. */
  readonly locked: Locked;
  /** What lies in the bundle and isn't read, as paths. */
  readonly ignored: readonly string[];
};

/** Where problems of an entry's config file start: `envs/x: env.toml`. */
export function tomlPath(entry: FolderEntry | EvalEntry): string {
  return entry.folder === "evals" || entry.tomlName === null ? entry.path : `${entry.path}: ${entry.tomlName}`;
}

/** Where an entry's config file lies; null for one that has none. */
export function configDisk(entry: Entry): string | null {
  if (entry.folder === "tasks" || entry.folder === "evals") return entry.disk;
  return entry.tomlName === null || entry.configText === null ? null : join(entry.disk, entry.tomlName);
}

/** Where problems of a task's step start: `tasks/t.json: step 'deploy'`. */
export function stepPath(task: TaskEntry, step: Step): string {
  return `${task.path}: step '${step.id}'`;
}
