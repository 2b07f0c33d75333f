import type { Kind, Problem } from "@agent-env/protocol";
import type { BundleType, Config } from "../types/type.ts";
import type { Bundle, EvalEntry, FolderEntry, Step, TaskEntry } from "./bundle.ts";
import type { Target } from "./lookup.ts";
import type { TaskOutput } from "./task-outputs.ts";

/** A reference with what it names. */
export type ResolvedRef = {
  /** Where its problems start: `envs/x: mcp_server_envs[0]`, `tasks/t.json: step 'deploy': env_id`. */
  readonly at: string;
  /** `mcp_server_envs[0]`. */
  readonly field: string;
  readonly target: Target;
  readonly version: number | null;
  readonly types: readonly string[] | undefined;
};

/** An image that is built from an entry's folder. */
export type BuiltImage = {
  readonly key: string;
  readonly id: string;
  /** The Dockerfile's path in the folder. */
  readonly dockerfile: string;
  /** `envs/items (Dockerfile image)`. */
  readonly label: string;
};

export type ResolvedEntity = {
  readonly what: "entity";
  readonly entry: FolderEntry | EvalEntry;
  readonly type: BundleType;
  /** References replaced by ids, built images filled in. */
  readonly config: Config;
  readonly builds: readonly BuiltImage[];
  readonly refs: readonly ResolvedRef[];
  readonly problems: readonly Problem[];
};

export type ResolvedTask = {
  readonly what: "task";
  readonly entry: TaskEntry;
  readonly steps: readonly Step[];
  readonly refs: readonly (ResolvedRef & { readonly step: Step })[];
  readonly outputs: readonly TaskOutput[];
  readonly problems: readonly Problem[];
};

/** An entry whose type isn't known: nothing can be said about what it references. */
export type Unresolved = {
  readonly what: "unknown";
  readonly entry: FolderEntry | EvalEntry;
  readonly refs: readonly [];
  readonly problems: readonly Problem[];
};

export type ResolvedEntry = ResolvedEntity | ResolvedTask | Unresolved;

export type Resolved = { readonly bundle: Bundle; readonly entries: readonly ResolvedEntry[] };

/** What names one thing in the stores: `artifact @local/~/demo/items__env_image`. */
export function writeKey(kind: Kind, id: string): string {
  return `${kind} ${id}`;
}

/** The entry that writes that thing: it itself, or an image that it builds. */
export function entryOf(entries: readonly ResolvedEntry[], key: string): ResolvedEntry | undefined {
  return entries.find((item) => {
    if (writeKey(item.entry.kind, item.entry.id) === key) return true;
    return item.what === "entity" && item.builds.some(({ id }) => writeKey("artifact", id) === key);
  });
}
