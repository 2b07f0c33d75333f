import { z } from "zod";
import { ConfigFile, KEY_FACTS, type KeyFacts } from "./keys.ts";

/** One key of the configuration: what its definition says. */
export type KnownKey = {
  /** `["build", "concurrency"]`. */
  readonly path: readonly string[];
  readonly about: string;
  readonly facts: KeyFacts;
  /** Null: there is none. */
  readonly fallback: unknown;
};

/** Every key that has a definition, in the order of the definition, each followed by those of the tables that it may be. */
export function knownKeys(): KnownKey[] {
  const withInner = (key: KnownKey): KnownKey[] => [key, ...keysDirectlyIn(key.path).flatMap(withInner)];
  return Object.keys(ConfigFile.shape).flatMap((section) => keysDirectlyIn([section]).flatMap(withInner));
}

/** The keys of one table of the configuration. */
export function keysDirectlyIn(path: readonly string[]): KnownKey[] {
  const schema = schemaAt(path);
  return schema === undefined ? [] : keysIn(path, schema);
}

/** The key of that path, or the nearest one above it whose value has such a part; undefined where there is none. */
export function knownKey(path: readonly string[]): KnownKey | undefined {
  if (path.length < 2) return undefined;
  const schema = schemaAt(path);
  return (schema === undefined ? null : keyOf(path, schema)) ?? (schema === undefined ? undefined : knownKey(path.slice(0, -1)));
}

/** The names that a table of the configuration takes; empty for one that takes any. */
export function namesIn(path: readonly string[]): string[] {
  const schema = schemaAt(path);
  return schema === undefined ? [] : objectsIn(schema).flatMap((object) => Object.keys(object.shape));
}

function keysIn(path: readonly string[], schema: z.core.$ZodType): KnownKey[] {
  return objectsIn(schema).flatMap(({ shape }) =>
    Object.entries(shape).flatMap(([name, inner]) => {
      const found = keyOf([...path, name], inner);
      return found === null ? [] : [found];
    }),
  );
}

function keyOf(path: readonly string[], schema: z.core.$ZodType): KnownKey | null {
  const inner = bare(schema);
  const facts = KEY_FACTS.get(inner);
  if (facts === undefined) return null;
  const fallback = schema instanceof z.ZodDefault ? schema.def.defaultValue : null;
  return { path, about: z.globalRegistry.get(inner)?.description ?? "", facts, fallback };
}

/** The schema of a path from the top; undefined where the definition says nothing of it. */
function schemaAt(path: readonly string[]): z.core.$ZodType | undefined {
  return path.reduce<z.core.$ZodType | undefined>((schema, name) => {
    if (schema === undefined) return undefined;
    const inner = bare(schema);
    if (inner instanceof z.ZodRecord) return inner.valueType;
    for (const object of objectsIn(inner)) {
      const known = object.shape[name];
      if (known !== undefined) return known;
      const rest = object.def.catchall;
      if (rest !== undefined && !(rest instanceof z.ZodNever)) return rest;
    }
    return undefined;
  }, ConfigFile);
}

/** The tables that a value may be: one, or the choices of a union that are tables. */
function objectsIn(schema: z.core.$ZodType): z.ZodObject[] {
  const inner = bare(schema);
  if (inner instanceof z.ZodObject) return [inner];
  return inner instanceof z.ZodUnion ? inner.options.flatMap(objectsIn) : [];
}

/** Without "may be left out". */
function bare(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault ? bare(schema.unwrap()) : schema;
}
