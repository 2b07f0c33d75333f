import { statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { UserError } from "@agent-env/protocol";

const VARIABLE = "AGENT_ENV_CONFIG";
const IN_FOLDER = join(".agentenv", "config.toml");

export type ConfigPlace = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `--config FILE`; null where it wasn't given. */
  readonly option: string | null;
};

/** The configuration file and what named it. */
export type FoundFile = { readonly path: string; readonly by: "--config" | typeof VARIABLE | "the working folder" };

/**
 * The configuration file: `--config`, else `$AGENT_ENV_CONFIG`, else the nearest `.agentenv/config.toml` from the working
 * folder upwards; null where there is none. Throws a UserError (exit code 2) when one that was named isn't there.
 */
export function findConfigFile({ cwd, env, option }: ConfigPlace): FoundFile | null {
  if (option !== null) return named(resolve(cwd, option), "--config");
  const variable = env[VARIABLE];
  if (variable !== undefined && variable !== "") return named(resolve(cwd, variable), VARIABLE);
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const path = join(folder, IN_FOLDER);
    if (isFile(path)) return { path, by: "the working folder" };
    if (folder === dirname(folder)) return null;
  }
}

function named(path: string, by: "--config" | typeof VARIABLE): FoundFile {
  if (isFile(path)) return { path, by };
  throw new UserError({
    what: `${path}: there is no such file`,
    why: `${by} names it as the configuration`,
    next: by === "--config" ? "name a file that is there, or leave --config out" : `correct ${VARIABLE}, or unset it`,
    exitCode: 2,
  });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
