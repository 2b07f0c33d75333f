import { UserError } from "@agent-env/protocol";
import { readTomlFile } from "../bundle/config-file.ts";
import { isTable, type TomlTable, type TomlValue } from "../bundle/toml.ts";
import { type KeyProblem, problemsOf } from "./key-problems.ts";
import { ConfigFile } from "./keys.ts";

/** A file as written, integers as numbers; keys that only the original knows are left out, and named. */
export type ReadFile = { readonly table: ConfigTable; readonly ofOriginal: readonly string[] };
export type ConfigTable = { readonly [key: string]: unknown };

/** Keys that the original's configuration has and that say nothing here. */
const OF_ORIGINAL: Readonly<Record<string, readonly string[]>> = { stores: ["document", "object"] };

/** Reads a configuration file. Throws a UserError (exit code 2) that names each key that can't be read. */
export function readConfigFile(path: string): ReadFile {
  const read = readTomlFile(path);
  if ("problem" in read) {
    throw new UserError({ what: `${path}: ${read.problem}`, why: "it is the configuration", next: "correct the file", exitCode: 2 });
  }
  const ofOriginal: string[] = [];
  const table = Object.fromEntries(
    Object.entries(plainTable(read.value)).map(([section, value]) => [
      section,
      isTable(value) ? withoutOriginal(section, value, ofOriginal) : value,
    ]),
  );
  const problems = problemsOf(ConfigFile, table);
  if (problems.length > 0) throw unreadable(path, problems);
  return { table, ofOriginal };
}

/** A file whose keys can't be read, for these reasons. */
export function unreadable(path: string, problems: readonly KeyProblem[]): UserError {
  const [first, ...others] = problems.map(({ at, message }) => `${at}: ${message}`);
  return new UserError({
    what: `${path}: ${first}`,
    why: others.length === 0 ? "the configuration is read before anything is done" : `and ${others.join("\nand ")}`,
    next: "correct the file: `agent-env config explain` lists the keys",
    exitCode: 2,
  });
}

function withoutOriginal(section: string, value: ConfigTable, found: string[]): ConfigTable {
  const keys = OF_ORIGINAL[section] ?? [];
  found.push(...keys.filter((key) => key in value).map((key) => `[${section}] ${key}`));
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
}

function plainTable(table: TomlTable): ConfigTable {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, plain(value)]));
}

/** Integers as numbers: no key of the configuration counts beyond 2⁵³. */
function plain(value: TomlValue): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  return isTable(value) ? plainTable(value) : value;
}
