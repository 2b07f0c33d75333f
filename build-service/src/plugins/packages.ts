import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import { type Manifest, readManifest } from "./manifest.ts";

/** A package that is, or was to be, a plugin. */
export type PluginPackage = {
  readonly name: string;
  readonly by: "a dependency" | "[plugins] packages";
  /** Null where it isn't installed. */
  readonly folder: string | null;
  /** Or why it can't be read as a plugin. */
  readonly manifest: Manifest | null;
  readonly problem: string | null;
};

/** This program: a project that depends on it has no plugin by that. */
const OWN_NAME = "agent-env";

const Dependencies = z.object({
  dependencies: z.record(z.string(), z.string()).default({}),
  devDependencies: z.record(z.string(), z.string()).default({}),
  optionalDependencies: z.record(z.string(), z.string()).default({}),
});

/**
 * The plugins among the direct dependencies of the nearest package.json above `cwd`, and those that `[plugins] packages` names,
 * in this order, each once. A dependency that isn't installed is no concern of ours; one that the setting names is shown.
 */
export function findPackages(cwd: string, named: readonly string[]): PluginPackage[] {
  const project = nearestManifest(cwd);
  const found = new Map<string, PluginPackage>();
  for (const name of project === null ? [] : dependenciesOf(project)) {
    const one = packageNamed(name, dirname(project ?? cwd), "a dependency");
    if (one !== null && name !== OWN_NAME) found.set(name, one);
  }
  for (const name of named) {
    if (!found.has(name)) found.set(name, packageNamed(name, cwd, "[plugins] packages") ?? noPlugin(name, cwd));
  }
  return [...found.values()];
}

function nearestManifest(cwd: string): string | null {
  return above(cwd, (folder) => join(folder, "package.json"));
}

/** The first of those paths that is there, from a folder upwards. */
function above(from: string, path: (folder: string) => string): string | null {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const candidate = path(folder);
    if (existsSync(candidate)) return candidate;
    if (folder === dirname(folder)) return null;
  }
}

function dependenciesOf(manifest: string): string[] {
  const read = Dependencies.safeParse(readJson(manifest));
  if (!read.success) return [];
  const { dependencies, devDependencies, optionalDependencies } = read.data;
  return [...new Set([dependencies, devDependencies, optionalDependencies].flatMap((names) => Object.keys(names)))].sort();
}

/** Null for a package that isn't installed, or is no plugin. */
function packageNamed(name: string, from: string, by: PluginPackage["by"]): PluginPackage | null {
  const path = above(from, (folder) => join(folder, "node_modules", name, "package.json"));
  if (path === null) return null;
  const folder = realpathSync(dirname(path));
  const json = readJson(path);
  if (json === undefined) return { name, by, folder, manifest: null, problem: "its package.json is no JSON" };
  const read = readManifest(json);
  if (read === null) return null;
  return "problem" in read
    ? { name, by, folder, manifest: null, problem: read.problem }
    : { name, by, folder, manifest: read.manifest, problem: null };
}

function noPlugin(name: string, cwd: string): PluginPackage {
  const path = above(cwd, (folder) => join(folder, "node_modules", name, "package.json"));
  const problem = path === null ? `it isn't installed where ${cwd} would find it` : "its package.json has no agentEnv";
  return { name, by: "[plugins] packages", folder: path === null ? null : dirname(path), manifest: null, problem };
}

/** Undefined for a file that is no JSON. */
function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
