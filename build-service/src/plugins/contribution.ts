import type { ContributionKind } from "./manifest.ts";

export type Status = "active" | "replaced" | "failed" | "skipped" | "conflict" | "blocked" | "unloaded";
export type StatusCode =
  | "load-failed"
  | "invalid-plugin"
  | "incompatible-core"
  | "builtin-name"
  | "name-conflict"
  | "replaced-by-config"
  | "already-attached"
  | "not-loaded"
  | "config-invalid"
  | "qualified-only"
  | "alias-refused";

/** One thing that a plugin adds, or why it doesn't (5-run §13.4). */
export type Contribution = {
  readonly package: string;
  readonly kind: ContributionKind;
  readonly name: string;
  /** As the manifest says it: a module, or a bundle's folder. */
  readonly path: string;
  readonly status: Status;
  readonly code: StatusCode | null;
  /** Why it isn't in effect, as a clause that names the package; null for one that is. */
  readonly why: string | null;
};

/** What one contribution of each kind is called in messages. */
export const KIND_WORDS: Readonly<Record<ContributionKind, string>> = {
  envTypes: "env type",
  artifactTypes: "artifact type",
  taskSteps: "step type",
  sandboxProviders: "sandbox provider",
  stateProviders: "state provider",
  envProviders: "env provider",
  commands: "command",
  bundles: "bundle",
};

/** What a name is in effect as: by itself, or, for a bundle, with its package's name in front only. */
export function isInEffect({ status, code }: Contribution): boolean {
  return status === "active" || status === "replaced" || code === "qualified-only";
}
