import type { FolderTree } from "../../fixtures/folder.ts";

/** A bundle that is refused, and everything that is said against it: `<code> <path>: <message>` each, sorted. */
export type Refusal = {
  readonly name: string;
  /** `<root>` in a file's text is the bundle's id root. */
  readonly tree: FolderTree;
  /** What a tree can't hold: a socket, a name that isn't UTF-8. */
  readonly prepare?: (folder: string) => void;
  readonly lines: readonly string[];
  /** What a run says where it isn't what a check says: it looks only at what its tasks and evals reach. */
  readonly run?: readonly string[];
};

export const NOTHING_TO_RUN =
  "nothing-to-run <bundle>: has no task and no eval to run: add tasks/<name>.json; `agent-env bundle check` checks a bundle without any";

const START = `FROM node:24-slim\nCOPY . .\nCMD ["node", "server.js"]\n`;

export const named = (name: string): string => `environment_name = "${name}"\n`;

/** An MCP server's folder. */
export const server = (name: string, toml: string = named(name)): FolderTree => ({
  [`envs/${name}/Dockerfile`]: START,
  [`envs/${name}/env.toml`]: toml,
});

/** A website's folder. */
export const site = (name: string, toml: string = named(name)): FolderTree => ({
  [`envs/${name}/Dockerfile.backend`]: START,
  [`envs/${name}/Dockerfile.frontend`]: START,
  [`envs/${name}/env.toml`]: `type = "website"\n${toml}`,
});

export const multi = (name: string, toml: string): FolderTree => ({ [`envs/${name}/env.toml`]: `type = "multi"\n${toml}` });

/** Data for a server. */
export const seed = (name: string, toml: string): FolderTree => ({
  [`artifacts/${name}/artifact.toml`]: toml,
  [`artifacts/${name}/seed.json`]: "{}",
});

export const steps = (...list: readonly unknown[]): FolderTree => ({ "tasks/t.json": JSON.stringify(list) });

/** A task that reaches those envs, so that a run looks at them too. */
export const deploying = (...envs: readonly string[]): FolderTree => ({
  "tasks/run.json": JSON.stringify(envs.map((env) => ({ id: `deploy ${env}`, type: "deploy_env", env_id: env }))),
});

/** A task that loads those artifacts into that env. */
export const loading = (env: string, ...artifacts: readonly string[]): FolderTree => ({
  "tasks/load.json": JSON.stringify([
    { id: "deploy", type: "deploy_env", env_id: env },
    { id: "load", type: "load_artifact", env_id: env, artifacts: artifacts.map((id) => ({ id })) },
  ]),
});

/** A task whose verifiers are those artifacts. */
export const verifying = (env: string, ...artifacts: readonly string[]): FolderTree => ({
  "tasks/verify.json": JSON.stringify([
    { id: "deploy", type: "deploy_env", env_id: env },
    ...artifacts.map((id) => ({ id: `verify ${id}`, type: "env_outcome_verifier", env_id: env, file_artifact_id: id })),
  ]),
});
