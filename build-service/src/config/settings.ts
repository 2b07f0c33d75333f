import { dirname } from "node:path";
import { UserError } from "@agent-env/protocol";
import type { z } from "zod";
import { isTable } from "../bundle/toml.ts";
import type { Presets } from "../providers/sandbox/sandboxes.ts";
import { type ConfigPlace, type FoundFile, findConfigFile } from "./find-file.ts";
import { problemsOf } from "./key-problems.ts";
import { SECTIONS, type SectionName } from "./keys.ts";
import { refuseOriginalVariables } from "./original-variables.ts";
import { type ConfigTable, readConfigFile, unreadable } from "./read-file.ts";
import { type ReferencePlace, resolved, type Secrets, secretsFrom } from "./reference.ts";
import { shownKey } from "./shown-key.ts";
import { withVariables } from "./variables.ts";

type Section<Name extends SectionName> = z.output<(typeof SECTIONS)[Name]>;
type CloudflareAccount = Exclude<Section<"stores">["records"], "local">;
export type CloudflareSettings = CloudflareAccount & Required<Pick<CloudflareAccount, "account_id" | "api_token">>;
/** `image` as `[stores] image` says it. A Cloudflare account is complete, whatever of it came from variables. */
export type StoresSettings = { readonly records: "local" | CloudflareSettings; readonly image: Section<"stores">["image"] };
/** A preset's own settings are resolved when it is asked for. */
export type SandboxSettings = Omit<Section<"sandbox">, "providers"> & { readonly presets: Presets };
export type EnvsSettings = Section<"envs">;
export type AgentsSettings = Section<"agents">;
export type ModelSettings = Section<"model">;
export type BuildSettings = Section<"build">;
export type RunSettings = Section<"run">;
export type VerifierSettings = Section<"verifiers">;
export type GatewaySettings = Section<"gateway">;
export type ExplorerSettings = Section<"explorer">;
/** `own` are the tables of plugins by package, as written: each goes to its own plugin only. */
export type PluginsSettings = {
  readonly packages: readonly string[];
  readonly names: Readonly<Record<string, readonly string[]>>;
  own(packageName: string): Readonly<Record<string, unknown>>;
};

/**
 * What the environment and the configuration file say, made once a command and handed down. A section is read when it is
 * asked for: what another one lacks is no concern of its reader. Options are the command's own, and win.
 */
export type Settings = {
  readonly file: FoundFile | null;
  /** What the file has and nothing uses: to be said once. */
  readonly warnings: readonly string[];
  /** What the file says, and that with environment variables on top: as written, for those who show it. */
  readonly written: ConfigTable;
  readonly effective: ConfigTable;
  readonly env: ConfigPlace["env"];
  stores(): StoresSettings;
  sandbox(): SandboxSettings;
  envs(): EnvsSettings;
  agents(): AgentsSettings;
  model(): ModelSettings;
  build(): BuildSettings;
  run(): RunSettings;
  verifiers(): VerifierSettings;
  gateway(): GatewaySettings;
  explorer(): ExplorerSettings;
  plugins(): PluginsSettings;
};

/** Reads the configuration. Throws a UserError (exit code 2) for a file or a variable that can't be used. */
export function readSettings(place: ConfigPlace): Settings {
  refuseOriginalVariables(place.env);
  const file = findConfigFile(place);
  const { table, ofOriginal } = file === null ? { table: {}, ofOriginal: [] } : readConfigFile(file.path);
  const warnings = ofOriginal.length === 0 ? [] : [`${file?.path}: says nothing here, and is ignored: ${ofOriginal.join(", ")}`];
  return settingsOf({ file, table, warnings, env: place.env });
}

/** The settings of a file's content and an environment. */
export function settingsOf(read: {
  readonly file: FoundFile | null;
  readonly table: ConfigTable;
  readonly warnings: readonly string[];
  readonly env: ConfigPlace["env"];
}): Settings {
  const { file, table, env } = read;
  const path = file?.path ?? "the configuration";
  const effective = withVariables(table, env);

  function parsed<Schema extends z.ZodType>(name: SectionName, schema: Schema, value: unknown): z.output<Schema> {
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    throw unreadable(path, problemsOf(schema, value, [name]));
  }

  function section<Schema extends z.ZodType>(name: SectionName, schema: Schema): z.output<Schema> {
    return parsed(name, schema, resolved(effective[name], at(name)));
  }

  function secrets(): Secrets {
    const { secret } = asTable(table["stores"]);
    return secretsFrom(parsed("stores", SECTIONS.stores.shape.secret, secret), file === null ? "" : dirname(file.path));
  }

  const at = (...key: string[]): ReferencePlace => ({ file: path, path: key, env, secrets: secrets() });

  return {
    file,
    warnings: read.warnings,
    written: table,
    effective,
    env,
    stores() {
      const { records, image } = section("stores", SECTIONS.stores);
      return { records: records === "local" ? records : completeAccount(records, path), image };
    },
    sandbox() {
      const { providers, ...rest } = asTable(table["sandbox"]);
      return {
        ...parsed("sandbox", SECTIONS.sandbox.omit({ providers: true }), resolved(rest, at("sandbox"))),
        presets: {
          file: path,
          names: Object.keys(asTable(providers)),
          settings(name) {
            const presets = asTable(providers);
            return Object.hasOwn(presets, name) ? asTable(resolved(presets[name], at("sandbox", "providers", name))) : null;
          },
        },
      };
    },
    envs: () => section("envs", SECTIONS.envs),
    agents: () => section("agents", SECTIONS.agents),
    model: () => section("model", SECTIONS.model),
    build: () => section("build", SECTIONS.build),
    run: () => section("run", SECTIONS.run),
    verifiers: () => section("verifiers", SECTIONS.verifiers),
    gateway: () => section("gateway", SECTIONS.gateway),
    explorer: () => section("explorer", SECTIONS.explorer),
    plugins() {
      const { packages, ...tables } = parsed("plugins", SECTIONS.plugins, table["plugins"] ?? {});
      return {
        packages,
        names: Object.fromEntries(Object.entries(tables).map(([name, own]) => [name, own.names ?? []])),
        own(packageName) {
          const { names: _names, ...own } = tables[packageName] ?? {};
          return asTable(resolved(own, at("plugins", packageName)));
        },
      };
    },
  };
}

function asTable(value: unknown): ConfigTable {
  return isTable(value) ? value : {};
}

function completeAccount(records: CloudflareAccount, path: string): CloudflareSettings {
  const { account_id, api_token } = records;
  if (account_id !== undefined && api_token !== undefined) return { ...records, account_id, api_token };
  const [key, variable] = account_id === undefined ? ["account_id", "CLOUDFLARE_ACCOUNT_ID"] : ["api_token", "CLOUDFLARE_API_TOKEN"];
  throw new UserError({
    what: `${path}: ${shownKey(["stores", "records", key])}: is missing`,
    why: "records are kept on Cloudflare",
    next: `write it there, or set ${variable}`,
    exitCode: 2,
  });
}
