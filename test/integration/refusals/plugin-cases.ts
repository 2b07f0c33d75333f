import { BUILT_IN, type Registry } from "../../../build-service/src/types/registry.ts";
import type { ArtifactType } from "../../../build-service/src/types/type.ts";
import { deploying, loading, multi, named, type Refusal, server, site } from "./refusal.ts";

/** A refusal that only a plugin's types and providers can bring about. */
export type PluginRefusal = Omit<Refusal, "run" | "prepare"> & { readonly registry: Registry };

const [mcpServer] = BUILT_IN.types;
if (mcpServer?.kind !== "env" || mcpServer.writes !== "record") throw new Error("the first type is the MCP server's");

const cloud = { name: "cloud", types: ["mcp_server", "website", "multi"], reservesNames: false, oneCard: true, refusesOptions: [] };
const withCloud: Registry = { ...BUILT_IN, envProviders: { ...BUILT_IN.envProviders, cloud } };

const { write: _write, ...withoutWrite } = mcpServer;
const folderEnv = {
  ...withoutWrite,
  type: "folder_env",
  writes: "folder",
  childSuffixes: () => [],
  writeFolder: async () => ({}),
} as const;
const gatewayOfFolders = { name: "gateway", types: ["folder_env"], reservesNames: true, oneCard: false, refusesOptions: [] };
const withFolderEnv: Registry = { ...BUILT_IN, types: [...BUILT_IN.types, folderEnv], envProviders: { gateway: gatewayOfFolders } };

/** An artifact that names another of its own type, and writes two parts under one id. */
const chain: ArtifactType = {
  kind: "artifact",
  type: "chain",
  tomlKeys: { next: "ref" },
  tomlRefs: [{ path: "next", kind: "artifact", types: ["chain", "environment"] }],
  accept: (_config, context) => context.accepted(),
  read: () => ({}),
  writes: "folder",
  childSuffixes: (_fields, files) => files.map(() => "part"),
  writeFolder: async () => ({}),
};
const withChain: Registry = { ...BUILT_IN, types: [...BUILT_IN.types, chain] };
const link = (name: string, next: string | null) => ({
  [`artifacts/${name}/artifact.toml`]: `type = "chain"\n${next === null ? "" : `next = "${next}"\n`}`,
  [`artifacts/${name}/file.txt`]: "",
});

export const PLUGIN: readonly PluginRefusal[] = [
  {
    name: "an MCP server and a website of one name, on a provider with one card",
    registry: withCloud,
    tree: {
      ...server("a", named("shop")),
      ...site("b", named("shop")),
      ...server("c", named("crm")),
      ...site("d", named("crm")),
      ...multi("m", 'mcp_server_envs = ["a", "c"]\nwebsite_envs = ["b", "d"]\nenv_provider_type = "cloud"\n'),
      ...deploying("m"),
    },
    lines: [
      'name-shared envs/m: on the provider "cloud" a multi has one card, so no MCP server and website may share a name: "crm", "shop"',
    ],
  },
  {
    name: "an env type that reads its folder, with a key that it doesn't have",
    registry: withFolderEnv,
    tree: { ...server("a", `type = "folder_env"\n${named("a")}port = 1\n`), ...deploying("a") },
    lines: [
      "cannot-write envs/a: the type folder_env reads more than its toml and what that names, so no run can tell when to write it anew",
      'unknown-key envs/a: env.toml: unknown key "port": folder_env takes image, environment_name, env_provider_type, type, id',
    ],
  },
  {
    name: "a loop, the shortest of those there are",
    registry: withChain,
    tree: { ...link("a", "b"), ...link("b", "c"), ...link("c", "a"), ...link("d", "e"), ...link("e", "d") },
    lines: ["loop artifacts/d: needs itself: artifacts/d -> artifacts/e -> artifacts/d"],
  },
  {
    name: "one id that is written twice",
    registry: withChain,
    tree: { ...link("a", null), "artifacts/a/more.txt": "" },
    lines: ["two-writers artifacts/a: artifact <root>/a__part is also written by artifacts/a: rename one of the two"],
  },
  {
    name: "a type that no registry has, beside one that a plugin brings",
    registry: withChain,
    tree: {
      ...server("a"),
      ...link("b", null),
      "artifacts/c/artifact.toml": 'type = "chains"\n',
      "artifacts/c/x": "",
      ...loading("a", "b"),
    },
    lines: [
      'unknown-type artifacts/c: there is no artifact type "chains": known are chain, docker_image, environment, environment_universe, file, file_artifact_universe',
      `wrong-kind tasks/load.json: step 'load': artifacts[0].id: "b" is this bundle's artifact of type chain (artifacts/b), and the field takes an artifact of type environment or environment_universe`,
    ],
  },
];
