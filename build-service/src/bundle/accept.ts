import type { Problem, ProblemCode } from "@agent-env/protocol";
import { type CardScan, scanCards } from "../images/card-scan/scan.ts";
import type { AcceptContext, ProblemPlace } from "../types/accept-context.ts";
import { EnvironmentName } from "../types/environment-name.ts";
import { findEnvProvider, type Registry, whyUnavailable } from "../types/registry.ts";
import { insteadOfStoredName } from "../types/stored-names.ts";
import type { Fields, FieldValue, KeyKind } from "../types/type.ts";
import { tomlPath } from "./bundle.ts";
import type { EntrySources } from "./entry-sources.ts";
import type { ResolvedEntity } from "./resolved.ts";
import { listed, shownText, shownValue } from "./shown.ts";
import { isTable } from "./toml.ts";
import { probably, unknownKeys } from "./unknown-names.ts";

/** What an entity's type may ask while it judges it. `sources` is null for an entity without a folder. */
export function acceptContext(options: {
  readonly entity: ResolvedEntity;
  readonly sources: EntrySources | null;
  readonly registry: Registry;
  readonly problems: Problem[];
}): AcceptContext {
  const { entity, sources, registry, problems } = options;
  const { entry, type, config } = entity;

  function problem(code: ProblemCode, message: string, place: ProblemPlace = "toml"): void {
    const path = place === "toml" ? tomlPath(entry) : place === "entry" ? entry.path : `${entry.path}/${place.path}`;
    problems.push({ code, path: shownText(path), message: shownText(message) });
  }

  function accepted(): Fields {
    problems.push(...keyProblems(entity));
    const fields: Record<string, FieldValue> = {};
    for (const [key, kind] of Object.entries(type.tomlKeys)) {
      const value = config[key];
      if (value === undefined) continue;
      if (isOfKind(value, kind)) fields[key] = plainValue(value);
      else problem("wrong-value", `${key}: expected ${EXPECTED[kind]}, and found ${shownValue(value)}`);
    }
    return fields;
  }

  async function acceptedEnv({ namedBy }: { readonly namedBy: string | null }): Promise<Fields> {
    const { environment_name: _declared, ...fields } = accepted();
    const provider = config["env_provider_type"] ?? "gateway";
    if (typeof provider === "string" && findEnvProvider(registry, provider) === undefined) {
      const names = Object.keys(registry.envProviders).sort();
      const why = whyUnavailable(registry, "env provider", provider);
      problem(
        "unknown-provider",
        `env_provider_type: there is no provider ${shownValue(provider)}${probably([provider], names)}: installed are ${names.join(", ")}${why}`,
      );
    }
    const name = namedBy === null ? null : await environmentName(namedBy);
    return {
      ...fields,
      env_provider_type: typeof provider === "string" ? provider : "",
      ...(name === null ? {} : { environment_name: name }),
    };
  }

  async function environmentName(imageKey: string): Promise<string | null> {
    const declared = config["environment_name"];
    if (declared === undefined) return nameOnCard(imageKey);
    if (typeof declared !== "string") return null;
    if (EnvironmentName.safeParse(declared).success) return declared;
    problem(
      "empty-name",
      "environment_name: is empty: write the server's name, or leave the key out to take it from the card in its source",
    );
    return null;
  }

  async function nameOnCard(imageKey: string): Promise<string | null> {
    const shown = imageKey.replaceAll("_", " ");
    const scan = await cardNames(imageKey);
    if (scan === null) {
      problem("no-source", `the ${shown} isn't built from this folder, so no source can tell the name: set environment_name`);
      return null;
    }
    const [name, ...others] = scan.names;
    if (name === undefined) {
      const hints = scan.hints.length === 0 ? "" : ` (${scan.hints.join("; ")})`;
      problem("no-card", `no environment card with a name is in the source of the ${shown}${hints}: set environment_name`);
      return null;
    }
    if (others.length === 0) return name;
    problem("several-cards", `the source of the ${shown} has cards of several names, ${listed(scan.names)}: set environment_name`);
    return null;
  }

  async function cardNames(imageKey: string): Promise<CardScan | null> {
    const build = entity.builds.find(({ key }) => key === imageKey);
    return build === undefined || sources === null ? null : scanCards(sources.context(build).files, build.dockerfile);
  }

  const files = () => sources?.files().files ?? [];
  return {
    id: entry.id,
    accepted,
    acceptedEnv,
    cardNames,
    files,
    listing() {
      const folders = (sources?.files().others ?? []).filter(({ is }) => is === "folder");
      return [
        ...files().map(({ path }) => ({ path, is: "file" as const })),
        ...folders.map(({ path }) => ({ path, is: "folder" as const })),
      ];
    },
    oneFile() {
      const [only, ...others] = files();
      if (only !== undefined && others.length === 0) return only;
      // What can't be read has been told of.
      if (only === undefined && sources?.files().problems.length === 0) problem("no-files", "has no file to write", "entry");
      if (only !== undefined) problem("one-file", `holds one file, and has ${others.length + 1}`, "entry");
      return null;
    },
    problem,
  };
}

/** Keys of an entity's toml that its type doesn't take, whatever else is wrong with it. */
export function keyProblems({ entry, type, config }: ResolvedEntity): Problem[] {
  const path = shownText(tomlPath(entry));
  const known = Object.keys(type.tomlKeys);
  const others = Object.keys(config).filter((key) => !known.includes(key));
  const stored = type.kind === "artifact" ? others.filter((key) => insteadOfStoredName(key) !== undefined) : [];
  const unknown = others.filter((key) => !stored.includes(key));
  return [
    ...stored.map((key) => ({
      code: "environment" as const,
      path,
      message: `${key}: is how the store calls it: write ${insteadOfStoredName(key)}`,
    })),
    ...(unknown.length === 0
      ? []
      : [{ code: "unknown-key" as const, path, message: shownText(unknownKeys(unknown, type.type, [...known, "type", "id"])) }]),
  ];
}

const EXPECTED: Readonly<Record<KeyKind, string>> = {
  string: "a string",
  number: "a number",
  boolean: "true or false",
  list: "a list",
  table: "a table",
  ref: "a reference",
};

/** References have been judged when they were resolved. */
function isOfKind(value: unknown, kind: KeyKind): boolean {
  switch (kind) {
    case "string":
    case "boolean":
      return typeof value === kind;
    case "number":
      return typeof value === "number" || typeof value === "bigint";
    case "list":
      return Array.isArray(value);
    case "table":
      return isTable(value);
    case "ref":
      return true;
  }
}

/** A toml's value as plain data: integers as numbers, beyond 2⁵³ as text; dates as ISO text (4-bundle §9.2). */
function plainValue(value: unknown): FieldValue {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  if (Array.isArray(value)) return value.map(plainValue);
  if (isTable(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainValue(item)]));
  return String(value);
}
