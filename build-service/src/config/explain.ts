import { UserError } from "@agent-env/protocol";
import { listed } from "../bundle/shown.ts";
import { isTable, parseToml } from "../bundle/toml.ts";
import { isSecretName, masked } from "./masked.ts";
import { type KnownKey, knownKey, knownKeys, namesIn } from "./schema-walk.ts";
import type { Settings } from "./settings.ts";
import { shownKey } from "./shown-key.ts";
import { variableValue } from "./variables.ts";

/** A key with the value that counts and where it comes from. Its names are `--json`'s. */
export type Explained = {
  readonly key: string;
  readonly about: string;
  /** As written, references unresolved, secrets masked; null where nothing sets it. */
  readonly value: unknown;
  readonly from: "environment" | "file" | "default" | "nothing";
  readonly default: unknown;
  readonly variable: string | null;
  /** Null: nothing reads it yet. */
  readonly read_by: string | null;
};

/** Every key of every section. */
export function explainedAll(settings: Settings): Explained[] {
  const own = isTable(settings.written["plugins"]) ? Object.keys(settings.written["plugins"]) : [];
  const plugins = own.filter((name) => name !== "packages").map((name) => ["plugins", name]);
  return [...knownKeys().flatMap(({ path }) => (path.length === 2 ? [path] : [])), ...plugins].flatMap((path) => {
    const key = knownKey(path);
    return key === undefined ? [] : [explained(key, path, settings)];
  });
}

/** The key that a person names: `build.concurrency`, `[build] concurrency`. Throws a UserError (exit code 2) for one that isn't known. */
export function explainedKey(text: string, settings: Settings): Explained {
  const path = keyPath(text);
  const key = path === null ? undefined : knownKey(path);
  if (path !== null && key !== undefined) return explained(key, path, settings);
  const [section] = path ?? [];
  const names = section === undefined ? [] : namesIn([section]);
  throw new UserError({
    what: `${text}: the configuration has no such key`,
    why: names.length === 0 ? `its sections are ${listed(namesIn([]))}` : `[${section}] has ${listed(names)}`,
    next: "agent-env config explain lists all keys",
    exitCode: 2,
  });
}

/** `path` may lead into the value of `key`, which is then all that is known of it. */
function explained(key: KnownKey, path: readonly string[], { written, effective, env }: Settings): Explained {
  const { about, facts } = key;
  const isWithin = path.length > key.path.length;
  const fallback = isWithin ? null : key.fallback;
  const variable = facts.variable ?? null;
  const value = valueAt(effective, path);
  const isOfVariable = variableValue(env, facts.variable) !== null && value !== undefined;
  const isOfFile = valueAt(written, path) !== undefined;
  const from = isOfVariable ? "environment" : isOfFile ? "file" : fallback === null ? "nothing" : "default";
  const isSecret = facts.isSecret === true || (isWithin && isSecretName(path.at(-1) ?? ""));
  return {
    key: shownKey(path),
    about,
    value: masked(value ?? fallback, isSecret),
    from,
    default: fallback,
    variable,
    read_by: facts.readBy,
  };
}

/** A dotted key of TOML as its parts; null for a text that is none. */
function keyPath(text: string): string[] | null {
  const dotted = text.replace(/^\[(.+)\]\s*/, "$1.").replace(/\.$/, "");
  let value: unknown;
  try {
    value = parseToml(`${dotted} = 0`);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  const path: string[] = [];
  while (isTable(value)) {
    const [only] = Object.entries(value);
    if (only === undefined) return null;
    path.push(only[0]);
    value = only[1];
  }
  return path;
}

function valueAt(table: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isTable(value) ? value[key] : undefined), table);
}
