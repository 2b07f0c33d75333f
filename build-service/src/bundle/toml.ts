import { parse, TomlDate, TomlError } from "smol-toml";
import { MAX_DEPTH } from "./json.ts";

/** A value as written: integers are bigints, so that `1.0` is none. */
export type TomlValue = string | number | bigint | boolean | TomlDate | TomlValue[] | TomlTable;
export type TomlTable = { [key: string]: TomlValue };

/** A toml's table. Throws a SyntaxError that says where. */
export function parseToml(text: string): TomlTable {
  try {
    const table: TomlTable = parse(text, { integersAsBigInt: true, unsafeKeyBehaviour: "throw", maxDepth: MAX_DEPTH });
    if (isDeeperThan(table, MAX_DEPTH)) throw new SyntaxError(`nested deeper than ${MAX_DEPTH} levels`);
    return table;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason] = error.message.replace(/^Invalid TOML document: /, "").split("\n");
    throw new SyntaxError(`${reason} (line ${error.line} column ${error.column})`, { cause: error });
  }
}

export function isTable(value: unknown): value is TomlTable {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof TomlDate);
}

/** Dotted keys and table headers nest without brackets, so that the parser's own limit doesn't count them. */
function isDeeperThan(value: TomlValue, levels: number): boolean {
  let layer: TomlValue[] = [value];
  for (let level = 0; layer.length > 0; level++) {
    if (level > levels + 1) return true;
    layer = layer.flatMap((item) => (Array.isArray(item) ? item : isTable(item) ? Object.values(item) : []));
  }
  return false;
}
