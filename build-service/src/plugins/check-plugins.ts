import { type Problem, sortedProblems } from "@agent-env/protocol";
import { checkBundle } from "../bundle/check.ts";
import { conformanceFindings } from "../types/conformance.ts";
import { findType } from "../types/registry.ts";
import type { Contribution } from "./contribution.ts";
import { folderIn, loadContribution } from "./load.ts";
import { afterFailure, folderOf, type Plugins } from "./plugins.ts";

/** A contribution with all that `plugin check` found about it. */
export type CheckedContribution = Contribution & {
  /** What its type does against its own declarations (B10), a line each. */
  readonly findings: readonly string[];
  /** What is wrong with the bundle. */
  readonly problems: readonly Problem[];
};

/**
 * Checks contributions of loaded plugins: each type against its own declaration of references, each bundle without a store,
 * each command by loading it (5-run §13.5). Opens no store and asks no Docker.
 */
export async function checkContributions(plugins: Plugins, contributions: readonly Contribution[]): Promise<CheckedContribution[]> {
  const checked: CheckedContribution[] = [];
  for (const contribution of contributions) checked.push(await checkedContribution(plugins, contribution));
  return checked;
}

async function checkedContribution(plugins: Plugins, contribution: Contribution): Promise<CheckedContribution> {
  const { kind, name, status, package: owner } = contribution;
  const nothing = { ...contribution, findings: [], problems: [] };
  const folder = folderOf(plugins.packages, owner);
  if (folder === null) return nothing;
  if (kind === "bundles" && (status === "active" || contribution.code === "qualified-only")) {
    const disk = folderIn(folder, contribution.path);
    if (disk === null) return nothing;
    const { problems } = await checkBundle(disk, { installed: { package: owner, name }, registry: plugins.registry });
    return { ...nothing, problems: sortedProblems(problems) };
  }
  if (status !== "active") return nothing;
  if (kind === "commands") {
    const loaded = await loadContribution(contribution, folder);
    return "code" in loaded ? { ...nothing, ...afterFailure(contribution, loaded) } : nothing;
  }
  const type = kind === "envTypes" ? findType(plugins.registry, "env", name) : findType(plugins.registry, "artifact", name);
  if (type === undefined || (kind !== "envTypes" && kind !== "artifactTypes")) return nothing;
  return { ...nothing, findings: await conformanceFindings(type, plugins.registry) };
}
