import type { JsonObject } from "@agent-env/protocol";
import type { Source } from "./names.ts";

/** A resource or a template in the gateway's list, and who serves it. */
export type UriEntry = { readonly source: string; readonly uri: string; readonly item: JsonObject };

/** All servers' resources, or templates, as one list: of those with one URI the first keeps it. */
export type UriTable = {
  readonly entries: readonly UriEntry[];
  readonly byUri: ReadonlyMap<string, UriEntry>;
  /** URI → all its sources, in order. */
  readonly clashes: ReadonlyMap<string, readonly string[]>;
};

/** Puts the resources or templates of all sources, given in order, into one list. `key` is where an item has its URI. */
export function uriTable(sources: readonly Source[], key: "uri" | "uriTemplate"): UriTable {
  const sourcesOf = new Map<string, string[]>();
  const byUri = new Map<string, UriEntry>();
  for (const { name, items } of sources) {
    for (const item of items) {
      const uri = String(item[key]);
      const given = sourcesOf.get(uri) ?? [];
      if (given.includes(name)) continue;
      sourcesOf.set(uri, [...given, name]);
      if (given.length === 0) byUri.set(uri, { source: name, uri, item });
    }
  }
  return { entries: [...byUri.values()], byUri, clashes: new Map([...sourcesOf].filter(([, names]) => names.length > 1)) };
}

/** What stands before a URI to read it from one server, whoever else has it. The whole is a URI with a scheme of its own. */
export function serverPrefix(server: string): string {
  const escaped = server.replace(/[^a-z0-9-]/g, (char) =>
    Array.from(new TextEncoder().encode(char), (byte) => `.${byte.toString(16).padStart(2, "0")}`).join(""),
  );
  return `env-${escaped}+`;
}

/** Whether a template (RFC 6570) may have made a URI. */
export function matchesTemplate(template: string, uri: string): boolean {
  const parts = template.split(/(\{[^}]*\})/).map((part, at) => {
    if (at % 2 === 0) return part.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
    if (/^\{[?&]/.test(part)) return "(?:[?&].*)?";
    return /^\{[+#/.;]|\*\}$/.test(part) ? ".*" : "[^/?#]+";
  });
  return new RegExp(`^${parts.join("")}$`, "u").test(uri);
}
