import type { JsonObject } from "@agent-env/protocol";
import { sha256Hex } from "../sha256.ts";

/** Between a server's name and its own name for a tool or prompt; the whole is callable, listed or not. */
const QUALIFIER = "__";
/** Some clients take no longer names. */
export const LONGEST_NAME = 64;

/** A tool or prompt in the gateway's list, and who serves it under which name. */
export type Entry<Item extends JsonObject = JsonObject> = {
  readonly source: string;
  readonly name: string;
  readonly qualified: string;
  readonly item: Item;
};
export type Source<Item extends JsonObject = JsonObject> = { readonly name: string; readonly items: readonly Item[] };

/** All servers' tools, or prompts, as one list (3-wire §tools): the first source of a name keeps it, everything else stays. */
export type NameTable<Item extends JsonObject = JsonObject> = {
  readonly entries: readonly Entry<Item>[];
  readonly byName: ReadonlyMap<string, Entry<Item>>;
  /** Name → all its sources, in order. */
  readonly clashes: ReadonlyMap<string, readonly string[]>;
};

/** Whether items are listed under their servers' own names, or with the server's name before them. */
export type NameMode = "plain" | "qualified";

/** The name under which an item can always be called. One of our making is never too long, and the same whatever else is served. */
export function qualifiedName(server: string, name: string): string {
  const whole = server + QUALIFIER + name;
  return whole.length <= LONGEST_NAME ? whole : `${whole.slice(0, 55)}_${sha256Hex(whole).slice(0, 8)}`;
}

/** Puts the items of all sources, given in order, into one list. */
export function nameTable<Item extends JsonObject>(sources: readonly Source<Item>[], mode: NameMode = "plain"): NameTable<Item> {
  const sourcesOf = new Map<string, string[]>();
  const plain = new Map<string, Entry<Item>>();
  const qualified = new Map<string, Entry<Item>>();
  for (const source of sources) {
    for (const item of source.items) {
      const name = String(item["name"]);
      const given = sourcesOf.get(name) ?? [];
      if (given.includes(source.name)) continue;
      const entry = { source: source.name, name, qualified: qualifiedName(source.name, name), item };
      sourcesOf.set(name, [...given, source.name]);
      if (!plain.has(name)) plain.set(name, entry);
      qualified.set(entry.qualified, entry);
    }
  }
  const clashes = new Map([...sourcesOf].filter(([, names]) => names.length > 1));
  for (const [name, entry] of qualified) {
    const other = plain.get(name);
    if (other !== undefined) clashes.set(name, [entry.source, other.source]);
  }
  const entries = mode === "qualified" ? [...qualified.values()] : [...plain.values()].filter(({ name }) => !qualified.has(name));
  return { entries, byName: new Map([...plain, ...qualified]), clashes };
}

/** An item as it is listed. */
export function listedItem<Item extends JsonObject>({ item, qualified }: Entry<Item>, mode: NameMode): JsonObject {
  return mode === "qualified" ? { ...item, name: qualified } : item;
}
