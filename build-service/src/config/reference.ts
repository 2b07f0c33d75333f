import { statSync } from "node:fs";
import { resolve } from "node:path";
import { UserError } from "@agent-env/protocol";
import { readTomlFile } from "../bundle/config-file.ts";
import { isTable } from "../bundle/toml.ts";
import { shownKey } from "./shown-key.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A value that stands for another: `env:NAME`, `secret:KEY`, either with `?default`. */
export type Reference = { readonly from: "env" | "secret"; readonly name: string; readonly fallback: string | null };

/** What a string of the file refers to; null for one that is a plain value. */
export function referenceIn(value: unknown): Reference | null {
  if (typeof value !== "string") return null;
  const [, from, name, fallback] = /^(env|secret):([^?]+)(?:\?(.*))?$/s.exec(value) ?? [];
  if (name === undefined) return null;
  return { from: from === "env" ? "env" : "secret", name, fallback: fallback ?? null };
}

/** `file` and `path`, the key that has the reference, are for messages. `secrets` is `[stores] secret`. */
export type ReferencePlace = {
  readonly file: string;
  readonly path: readonly string[];
  readonly env: Environment;
  readonly secrets: Secrets;
};
export type Secrets = { readonly from: "env" } | { readonly from: "file"; readonly path: string };

/** `value` with every reference in it, at whatever depth, replaced by what it stands for. Throws a UserError (exit code 2). */
export function resolved(value: unknown, place: ReferencePlace): unknown {
  const reference = referenceIn(value);
  if (reference !== null) return resolvedReference(reference, place);
  const within = (item: unknown, name: string | number) => resolved(item, { ...place, path: [...place.path, String(name)] });
  if (Array.isArray(value)) return value.map(within);
  if (!isTable(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, within(item, name)]));
}

function resolvedReference({ from, name, fallback }: Reference, { file, path, env, secrets }: ReferencePlace): string {
  const found = from === "env" || secrets.from === "env" ? env[name] : secretsOf(secrets.path)[name];
  if (found !== undefined && found !== "") return found;
  if (fallback !== null) return fallback;
  const isVariable = from === "env" || secrets.from === "env";
  throw new UserError({
    what: `${file}: ${shownKey(path)}: "${from}:${name}" has no value`,
    why: isVariable ? `the environment variable ${name} isn't set` : `${secrets.path} has no ${name}`,
    next: isVariable
      ? `set ${name}, or write "${from}:${name}?<default>"`
      : `add ${name} to that file, or write "${from}:${name}?<default>"`,
    exitCode: 2,
  });
}

/** The secrets file: a TOML table of strings that only its owner can read. */
function secretsOf(path: string): Readonly<Record<string, string>> {
  const refuse = (why: string, next: string) =>
    new UserError({ what: `${path}: can't be used as the secrets file`, why, next, exitCode: 2 });
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw refuse("it isn't there", "make it, with mode 0600, or correct [stores] secret");
  if (process.platform !== "win32" && (stats.mode & 0o077) !== 0) throw refuse("others can read it", `chmod 600 ${path}`);
  const read = readTomlFile(path);
  if ("problem" in read) throw refuse(`it ${read.problem}`, 'write it as TOML, a line a secret: name = "value"');
  const wrong = Object.entries(read.value).find(([, value]) => typeof value !== "string");
  if (wrong !== undefined) throw refuse(`${wrong[0]} is no string`, 'write a line a secret: name = "value"');
  return Object.fromEntries(Object.entries(read.value).map(([name, value]) => [name, String(value)]));
}

/** Where `[stores] secret` says that secrets are. A relative path starts at the configuration file's folder. */
export function secretsFrom(setting: "env" | { readonly file: string }, folder: string): Secrets {
  return setting === "env" ? { from: "env" } : { from: "file", path: resolve(folder, setting.file) };
}
