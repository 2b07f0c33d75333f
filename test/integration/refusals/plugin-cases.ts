import { z } from "zod";
import { stepOf } from "../../../build-service/src/run/steps/step.ts";
import { BUILT_IN, type Registry } from "../../../build-service/src/types/registry.ts";
import type { ArtifactType } from "../../../build-service/src/types/type.ts";
import { deploying, loading, multi, named, type Refusal, server, site, steps } from "./refusal.ts";

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

/** A step that writes a file, and one that doesn't say what it references. */
const collect = stepOf({
  type: "collect",
  fields: z.object({ output_id: z.string() }),
  entityRefs: [{ path: "output_id", kind: "artifact", role: "output", types: ["file"] }],
});
const opaque = stepOf({ type: "opaque", fields: z.looseObject({}) });
const withSteps: Registry = { ...BUILT_IN, steps: [...BUILT_IN.steps, collect, opaque] };
const collecting = (id: string, output_id: string) => ({ id, type: "collect", output_id });
const verifying = (id: string, file_artifact_id: string, more: object = {}) => ({
  id,
  type: "env_outcome_verifier",
  env_id: "a",
  file_artifact_id,
  ...more,
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
      'unknown-key envs/a: env.toml: unknown key "port": folder_env takes image, environment_name, env_provider_type, type, id',
      "cannot-write envs/a: the type folder_env reads more than its toml and what that names, so no run can tell when to write it anew",
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
      'unknown-type artifacts/c: there is no artifact type "chains" (probably "chain"): known are chain, docker_image, environment, environment_universe, file, file_artifact_universe',
      `wrong-kind tasks/load.json: step 'load': artifacts[0].id: "b" is this bundle's artifact of type chain (artifacts/b), and the field takes an artifact of type environment or environment_universe`,
    ],
  },
  {
    name: "outputs that can't have their names",
    registry: withSteps,
    tree: {
      ...server("a"),
      "artifacts/seed/x": "",
      ...steps(
        collecting("x", "@local/out"),
        collecting("y", "Seed"),
        collecting("z", "out"),
        collecting("w", "OUT"),
        collecting("v", "a__b"),
      ),
    },
    lines: [
      'output tasks/t.json: step \'v\': output_id: "a__b" can\'t be the name of an output: "__" is kept for the ids of what is made along with an artifact',
      'output tasks/t.json: step \'w\': output_id: "OUT" is also an output of step "z": give one of them another name',
      "output tasks/t.json: step 'x': output_id: \"@local/out\" can't be the name of an output: it is an id, and an output gets its task's id before its name",
      "output tasks/t.json: step 'y': output_id: \"Seed\" is also artifacts/seed of this bundle: give the output another name",
    ],
  },
  {
    name: "an output that is used by steps that don't run after its writer, and pinned",
    registry: withSteps,
    tree: {
      ...server("a"),
      ...steps(
        verifying("early", "out"),
        collecting("x", "out"),
        verifying("beside", "out", { depends_on: ["early"] }),
        verifying("pinned", "out", { file_artifact_version: 1 }),
      ),
    },
    lines: [
      'output tasks/t.json: step \'beside\': file_artifact_id: "out" is written by step "x", and this step doesn\'t run after it: let it depend on "x"',
      'output tasks/t.json: step \'early\': file_artifact_id: "out" is written by step "x", and this step doesn\'t run after it: let it depend on "x"',
      "pinned tasks/t.json: step 'pinned': file_artifact_id: \"out\" is written by an earlier step of this task and has no fixed version: leave out the version",
    ],
  },
  {
    name: "names of the bundle in a step that doesn't declare what it references",
    registry: withSteps,
    tree: {
      ...server("a"),
      "artifacts/seed/x": "",
      ...steps(collecting("x", "out"), {
        id: "y",
        type: "opaque",
        env: "A",
        args: { files: ["seed", "<root>/seed"] },
        note: "nothing",
        out: "out",
        wait_step_id: "a",
      }),
    },
    lines: [
      'undeclared-ref tasks/t.json: step \'y\': args.files[0]: "seed" is the name of artifacts/seed, and the step type "opaque" doesn\'t declare what it references, so no id can take its place: write another text, or have the plugin declare entityRefs',
      'undeclared-ref tasks/t.json: step \'y\': args.files[1]: "<root>/seed" is the name of artifacts/seed, and the step type "opaque" doesn\'t declare what it references, so no id can take its place: write another text, or have the plugin declare entityRefs',
      'undeclared-ref tasks/t.json: step \'y\': env: "A" is the name of envs/a, and the step type "opaque" doesn\'t declare what it references, so no id can take its place: write another text, or have the plugin declare entityRefs',
      'undeclared-ref tasks/t.json: step \'y\': out: "out" is the name of an output of step "x", and the step type "opaque" doesn\'t declare what it references, so no id can take its place: write another text, or have the plugin declare entityRefs',
    ],
  },
];
