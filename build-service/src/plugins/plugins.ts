import type { Settings } from "../config/settings.ts";
import { SANDBOXES } from "../providers/capabilities.ts";
import type { EnvProvider } from "../providers/env/provider.ts";
import { SANDBOX_PROVIDERS } from "../providers/sandbox/registry.ts";
import { NO_PRESETS, type Presets, sandboxesOf } from "../providers/sandbox/sandboxes.ts";
import { BUILT_IN, type Registry, typeNames, type Unavailable, whyUnavailable } from "../types/registry.ts";
import { type Contribution, isInEffect, KIND_WORDS } from "./contribution.ts";
import { type BuiltInNames, decideContributions } from "./decide.ts";
import type { Installed } from "./installed.ts";
import { folderIn, type Loaded, loadContribution } from "./load.ts";
import { ownPackage } from "./own-package.ts";
import { findPackages, type PluginPackage } from "./packages.ts";

/** The plugins of a project by their manifests: nothing of theirs is loaded. */
export type FoundPlugins = { readonly packages: readonly PluginPackage[]; readonly contributions: readonly Contribution[] };

/** The plugins of a project, loaded. */
export type Plugins = FoundPlugins & Installed;

/** Env types of the store that no bundle's env can have. */
const INFRASTRUCTURE = ["gateway_server", "service_db"];

/** Finds the plugins of the project around `cwd`. `commands` are the command line's own ones. */
export function findPlugins(place: {
  readonly cwd: string;
  readonly settings: Settings;
  readonly commands: readonly string[];
}): FoundPlugins {
  const { packages: named, names } = place.settings.plugins();
  const packages = findPackages(place.cwd, named);
  const { version, bundles } = ownPackage();
  const builtIn: BuiltInNames = {
    envTypes: [...typeNames(BUILT_IN, "env"), ...INFRASTRUCTURE],
    artifactTypes: typeNames(BUILT_IN, "artifact"),
    taskSteps: BUILT_IN.steps.map(({ type }) => type),
    sandboxProviders: Object.keys(SANDBOXES),
    stateProviders: [],
    envProviders: Object.keys(BUILT_IN.envProviders),
    commands: place.commands,
    bundles: [...bundles.keys()],
  };
  const contributions = decideContributions(packages, { builtIn, version, names });
  return { packages, contributions: contributions.map((one) => (one.kind === "bundles" ? withFolder(one, packages) : one)) };
}

/** A bundle whose folder isn't there is none. */
function withFolder(bundle: Contribution, packages: readonly PluginPackage[]): Contribution {
  const folder = folderOf(packages, bundle.package);
  if (!isInEffect(bundle) || folder === null || folderIn(folder, bundle.path) !== null) return bundle;
  const why = `the plugin ${JSON.stringify(bundle.package)} has one, and ${bundle.path} is no folder of the package`;
  return { ...bundle, status: "failed", code: "load-failed", why };
}

/** Where a package lies; null for one that isn't installed. */
export function folderOf(packages: readonly PluginPackage[], name: string): string | null {
  return packages.find((one) => one.name === name)?.folder ?? null;
}

/** A line for each package and each contribution that was to be loaded and couldn't be. */
export function pluginWarnings({ packages, contributions }: FoundPlugins): string[] {
  return [
    ...packages.flatMap(({ name, problem }) => (problem === null ? [] : [`the plugin ${JSON.stringify(name)} can't be used: ${problem}`])),
    ...contributions.flatMap(({ kind, name, status, why }) =>
      (status === "failed" || status === "skipped") && why !== null ? [`${KIND_WORDS[kind]} ${JSON.stringify(name)}: ${why}`] : [],
    ),
  ];
}

/** Loads what is in effect, commands excepted: one is loaded when it is called. `presets` are the configuration's sandboxes. */
export async function loadPlugins({ packages, contributions: decided }: FoundPlugins, presets: Presets = NO_PRESETS): Promise<Plugins> {
  const loaded: Loaded[] = [];
  const contributions: Contribution[] = [];
  for (const contribution of decided) {
    const folder = folderOf(packages, contribution.package);
    if (contribution.status !== "active" || folder === null || contribution.kind === "commands" || contribution.kind === "bundles") {
      contributions.push(contribution);
      continue;
    }
    const result = await loadContribution(contribution, folder);
    if ("what" in result) loaded.push(result);
    contributions.push("what" in result ? contribution : afterFailure(contribution, result));
  }
  const providers = loaded.flatMap((one) => (one.what === "envProvider" ? [one.provider] : []));
  const sandboxes = loaded.flatMap((one) => (one.what === "sandboxProvider" ? [one.provider] : []));
  const registry = registryOf(loaded, providers, contributions);
  return {
    packages,
    contributions,
    registry,
    envProviders: new Map(providers.map((provider) => [provider.capabilities.name, provider])),
    sandboxes: sandboxesOf([...SANDBOX_PROVIDERS, ...sandboxes], presets, (name) => whyUnavailable(registry, "sandbox provider", name)),
  };
}

/** Plugins of which only the manifests are read: what would be loaded isn't. */
export function afterNotLoading({ packages, contributions }: FoundPlugins): FoundPlugins {
  const unloaded = (one: Contribution): Contribution =>
    one.status === "active" && one.kind !== "bundles" ? { ...one, status: "unloaded", code: "not-loaded", why: "--no-load" } : one;
  return { packages, contributions: contributions.map(unloaded) };
}

/** A contribution as it stands when its module can't be used. */
export function afterFailure(contribution: Contribution, { code, why }: Pick<Contribution, "code" | "why">): Contribution {
  return { ...contribution, status: code === "load-failed" ? "failed" : "skipped", code, why };
}

function registryOf(loaded: readonly Loaded[], providers: readonly EnvProvider[], contributions: readonly Contribution[]): Registry {
  return {
    types: [...BUILT_IN.types, ...loaded.flatMap((one) => (one.what === "type" ? [one.type] : []))],
    steps: [...BUILT_IN.steps, ...loaded.flatMap((one) => (one.what === "step" ? [one.step] : []))],
    envProviders: {
      ...BUILT_IN.envProviders,
      ...Object.fromEntries(providers.map(({ capabilities }) => [capabilities.name, capabilities])),
    },
    unavailable: unavailableOf(contributions),
  };
}

/** Names that no contribution has in effect, each reason once. */
function unavailableOf(contributions: readonly Contribution[]): Unavailable[] {
  const active = new Set(contributions.filter(({ status }) => status === "active").map(({ kind, name }) => `${kind} ${name}`));
  const lost = contributions.flatMap(({ kind, name, status, why }): Unavailable[] => {
    const what = kind === "stateProviders" || kind === "commands" || kind === "bundles" ? null : UNAVAILABLE[kind];
    if (what === null || why === null || status === "active" || active.has(`${kind} ${name}`)) return [];
    return [{ what, name, why }];
  });
  return [...new Map(lost.map((one) => [`${one.what} ${one.name} ${one.why}`, one])).values()];
}

const UNAVAILABLE = {
  envTypes: "env type",
  artifactTypes: "artifact type",
  taskSteps: "step type",
  envProviders: "env provider",
  sandboxProviders: "sandbox provider",
} as const satisfies Partial<Record<Contribution["kind"], Unavailable["what"]>>;
