import { HIDDEN_META_KEY, isAllowed, isJsonObject, type ListedTool, type RoleRules } from "@agent-env/protocol";

/** A tool in the gateway's list, and who serves it. */
export type Entry = { readonly source: string; readonly tool: ListedTool };
export type Source = { readonly name: string; readonly tools: readonly ListedTool[] };

/** All servers' tools as one list (3-wire §tools): the first source of a name keeps it, everything else stays. */
export type Catalogue = {
  readonly entries: readonly Entry[];
  readonly byName: ReadonlyMap<string, Entry>;
  /** Name → all its sources, in order. */
  readonly clashes: ReadonlyMap<string, readonly string[]>;
};

/** Between a server's name and its own name for a tool; the whole is callable, listed or not. */
const QUALIFIER = "__";

/** Puts the tools of all sources, given in order, into one list. */
export function catalogueOf(sources: readonly Source[]): Catalogue {
  const sourcesOf = new Map<string, string[]>();
  const plain = new Map<string, Entry>();
  const qualified = new Map<string, Entry>();
  for (const { name, tools } of sources) {
    for (const tool of tools) {
      const entry = { source: name, tool };
      const given = sourcesOf.get(tool.name) ?? [];
      if (given.includes(name)) continue;
      sourcesOf.set(tool.name, [...given, name]);
      if (!plain.has(tool.name)) plain.set(tool.name, entry);
      qualified.set(`${name}${QUALIFIER}${tool.name}`, entry);
    }
  }
  const clashes = new Map([...sourcesOf].filter(([, names]) => names.length > 1));
  for (const [name, entry] of qualified) {
    const other = plain.get(name);
    if (other !== undefined) clashes.set(name, [entry.source, other.source]);
  }
  return { entries: [...plain.values()], byName: new Map([...plain, ...qualified]), clashes };
}

/** Whether a role may see and call an entry. A rule on a plain name covers every tool of it. */
export function mayUse(rules: RoleRules, role: string, entry: Entry): boolean {
  return isAllowed(rules, role, { name: entry.tool.name, hidden: isHidden(entry.tool) });
}

/** Whether a server marks a tool as hidden by default. */
export function isHidden(tool: ListedTool): boolean {
  const meta = tool["_meta"];
  return isJsonObject(meta) && meta[HIDDEN_META_KEY] === true;
}

/** Whether a tool says that calling it twice does no more than calling it once. */
export function mayRepeat(tool: ListedTool): boolean {
  const annotations = tool["annotations"];
  return isJsonObject(annotations) && (annotations["readOnlyHint"] === true || annotations["idempotentHint"] === true);
}
