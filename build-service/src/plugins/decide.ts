import satisfies from "semver/functions/satisfies.js";
import validRange from "semver/ranges/valid.js";
import { type Contribution, KIND_WORDS, type Status, type StatusCode } from "./contribution.ts";
import { CONTRIBUTION_KINDS, type ContributionKind, type Manifest } from "./manifest.ts";
import type { PluginPackage } from "./packages.ts";

/** Names that plugins can't have, by kind. */
export type BuiltInNames = Readonly<Record<ContributionKind, readonly string[]>>;

export type DecideContext = {
  readonly builtIn: BuiltInNames;
  /** This agent-env's version. */
  readonly version: string;
  /** `[plugins."<package>"] names`: those that a package has where another claims them too. */
  readonly names: Readonly<Record<string, readonly string[]>>;
};

type Claim = Pick<Contribution, "package" | "kind" | "name" | "path">;
type Decision = readonly [Status, StatusCode | null, string | null];

/**
 * What of the packages' contributions is in effect, by their manifests alone (5-run §13.3): a built-in name always wins, two
 * packages that claim one name both lose it unless the configuration gives it to one.
 */
export function decideContributions(packages: readonly PluginPackage[], context: DecideContext): Contribution[] {
  const blocked = new Map(packages.map((one, index) => [one.name, attachedBefore(one, packages.slice(0, index)) ?? blockOf(one, context)]));
  const claims = packages.flatMap(claimsOf);
  const standing = claims.filter((claim) => blocked.get(claim.package) === null);
  return claims.map((claim) => {
    const [status, code, why] = blocked.get(claim.package) ?? decided(claim, standing, context);
    return { ...claim, status, code, why };
  });
}

function claimsOf({ name, manifest }: PluginPackage): Claim[] {
  if (manifest === null) return [];
  return CONTRIBUTION_KINDS.flatMap((kind) =>
    Object.entries(manifest.agentEnv[kind]).map(([claimed, path]) => ({ package: name, kind, name: claimed, path })),
  );
}

/** One folder under two names of dependencies is one plugin. */
function attachedBefore({ name, folder }: PluginPackage, earlier: readonly PluginPackage[]): Decision | null {
  const first = folder === null ? undefined : earlier.find((one) => one.folder === folder);
  return first === undefined ? null : ["skipped", "already-attached", `the plugin ${quoted(name)} is ${quoted(first.name)} once more`];
}

/** Why nothing of a package can be used; null when it can. */
function blockOf({ name, manifest }: PluginPackage, { version, names }: DecideContext): Decision | null {
  if (manifest === null) return null;
  const range = manifest.peerDependencies["agent-env"];
  if (range !== undefined && (validRange(range) === null || !satisfies(version, range, { includePrerelease: true }))) {
    return ["blocked", "incompatible-core", `the plugin ${quoted(name)} is for agent-env ${range}, and this is ${version}`];
  }
  const unknown = (names[name] ?? []).filter((given) => !hasName(manifest, given));
  if (unknown.length === 0) return null;
  const why = `[plugins.${quoted(name)}] names gives it ${unknown.map(quoted).join(", ")}, which the plugin doesn't have`;
  return ["blocked", "config-invalid", why];
}

function hasName({ agentEnv }: Manifest, name: string): boolean {
  return CONTRIBUTION_KINDS.some((kind) => Object.hasOwn(agentEnv[kind], name));
}

function decided(claim: Claim, standing: readonly Claim[], { builtIn, names }: DecideContext): Decision {
  const { kind, name } = claim;
  const word = KIND_WORDS[kind];
  if (kind === "stateProviders") {
    return ["skipped", "invalid-plugin", `the plugin ${quoted(claim.package)} has one, and ${word}s of plugins aren't supported yet`];
  }
  if (builtIn[kind].includes(name)) {
    return kind === "bundles"
      ? qualifiedOnly(claim, "agent-env")
      : ["conflict", "builtin-name", `the plugin ${quoted(claim.package)} has one, and the built-in ${word} of that name counts`];
  }
  const others = standing.filter((other) => other.kind === kind && other.name === name && other.package !== claim.package);
  if (others.length === 0) return ["active", null, null];
  const given = [claim, ...others].filter((one) => names[one.package]?.includes(name));
  const [owner] = given;
  if (owner !== undefined && given.length === 1) {
    return owner.package === claim.package
      ? ["active", null, null]
      : ["replaced", "replaced-by-config", `[plugins.${quoted(owner.package)}] names gives the ${word} to that plugin`];
  }
  const claimants = [claim, ...others].map((one) => quoted(one.package)).sort();
  if (kind === "bundles") return qualifiedOnly(claim, others.map((one) => one.package).join(", "));
  const next = `[plugins.${claimants[0]}] names = [${quoted(name)}] would give it to that one`;
  return ["conflict", "name-conflict", `the plugins ${claimants.join(" and ")} both have one, so neither counts: ${next}`];
}

function qualifiedOnly({ package: owner, name }: Claim, others: string): Decision {
  return ["conflict", "qualified-only", `${others} has a bundle of that name too: the one of ${quoted(owner)} runs as ${owner}/${name}`];
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
