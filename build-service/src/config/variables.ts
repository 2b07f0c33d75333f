import { isTable } from "../bundle/toml.ts";
import { ConfigFile } from "./keys.ts";
import type { ConfigTable } from "./read-file.ts";
import { keysDirectlyIn } from "./schema-walk.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The file's table with what environment variables say on top of it; a section for each that there is. */
export function withVariables(table: ConfigTable, env: Environment): ConfigTable {
  return Object.fromEntries(
    [...new Set([...Object.keys(ConfigFile.shape), ...Object.keys(table)])].map((section) => [
      section,
      tableWithVariables([section], table[section] ?? {}, env),
    ]),
  );
}

/** The value of a variable that counts: an empty one is as good as none. */
export function variableValue(env: Environment, variable: string | undefined): string | null {
  return variable === undefined ? null : env[variable] || null;
}

function tableWithVariables(path: readonly string[], value: unknown, env: Environment): unknown {
  if (!isTable(value)) return value;
  const within = Object.entries(value).map(([key, inner]) => [key, tableWithVariables([...path, key], inner, env)] as const);
  const set = keysDirectlyIn(path).flatMap(({ path: key, facts }) => {
    const found = variableValue(env, facts.variable);
    return found === null ? [] : [[key.at(-1) ?? "", found] as const];
  });
  return Object.fromEntries([...within, ...set]);
}
