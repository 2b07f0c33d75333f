import { isJsonObject, type JsonObject } from "@agent-env/protocol";
import { placedUrl, type SitePlace } from "./place.ts";

/**
 * What makes root-relative module specifiers of a site work under a prefix, scripts unchanged: the longest matching key of an
 * import map wins, so what has the prefix already stays.
 */
export function prefixImports({ prefix }: SitePlace): JsonObject {
  return { "/": `${prefix}/`, [`${prefix}/`]: `${prefix}/` };
}

/** A page's own import map under the prefix, with those entries; null for what is no import map. */
export function placedImportMap(text: string, place: SitePlace): string | null {
  const map = parsed(text);
  if (map === null) return null;
  const imports = isJsonObject(map["imports"]) ? map["imports"] : {};
  const scopes = isJsonObject(map["scopes"]) ? map["scopes"] : {};
  const placedScopes = Object.entries(scopes).map(([scope, entries]) => [
    placedUrl(scope, place),
    isJsonObject(entries) ? placedEntries(entries, place) : entries,
  ]);
  return JSON.stringify({
    ...map,
    imports: { ...prefixImports(place), ...placedEntries(imports, place) },
    ...(placedScopes.length === 0 ? {} : { scopes: Object.fromEntries(placedScopes) }),
  }).replaceAll("</", "<\\/");
}

function placedEntries(entries: JsonObject, place: SitePlace): JsonObject {
  return Object.fromEntries(Object.entries(entries).map(([key, url]) => [key, typeof url === "string" ? placedUrl(url, place) : url]));
}

function parsed(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
