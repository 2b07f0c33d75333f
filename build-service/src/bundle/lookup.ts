import { foldName, type Kind, LOCAL_PREFIX, type Problem } from "@agent-env/protocol";
import { type Bundle, type Entry, KIND_FOLDERS, KIND_OF } from "./bundle.ts";
import { shownAscii, shownText, shownValue } from "./shown.ts";

/**
 * What a reference names: something that this bundle writes, an output of the same task, something of a store, or an id of
 * this bundle that isn't there.
 */
export type Target = { readonly in: "bundle" | "task" | "store" | "nowhere"; readonly kind: Kind; readonly id: string };
export type Found = { readonly target: Target } | Pick<Problem, "code" | "message">;

/** An image that is built along with an entity: it can be named by its id. */
export type BuiltId = { readonly id: string };

export type Lookup = (text: string, kind: Kind, types: readonly string[] | undefined) => Found;

/**
 * Looks a name or id up in the bundle, and takes what isn't there for a store id (4-bundle §3.4, §3.6). `untyped` are
 * entries of types that nobody knows: they are refused by themselves, and fit wherever they are named.
 */
export function lookupIn(bundle: Bundle, built: readonly BuiltId[], untyped: ReadonlySet<Entry>): Lookup {
  const builtIds = new Set(built.map(({ id }) => id));
  const { entries, idRoot } = bundle;

  return (text, kind, types) => {
    const own = entries.filter((entry) => entry.kind === kind);
    const match = own.find(({ name, id }) => name === text || id === text);
    if (match !== undefined) return fitting(match, kind, untyped.has(match) ? undefined : types);
    if (kind === "artifact" && builtIds.has(text)) return fittingImage(text, types);
    if (text.startsWith(LOCAL_PREFIX)) return localTarget(text, kind, types);
    return nearMiss(text, own, kind) ?? { target: { in: "store", kind, id: text } };
  };

  function localTarget(id: string, kind: Kind, types: readonly string[] | undefined): Found {
    const other = entries.find((entry) => entry.id === id);
    if (other !== undefined) return wrongKind(other, kind, types);
    if (builtIds.has(id))
      return { code: "wrong-kind", message: `${shownValue(id)} is this bundle's image, and the field takes ${expected(kind, types)}` };
    const near = nearMiss(
      id,
      entries.filter((entry) => entry.kind === kind),
      kind,
    );
    if (near !== null) return near;
    return { target: { in: id.startsWith(`${idRoot}/`) ? "nowhere" : "store", kind, id } };
  }

  function nearMiss(text: string, own: readonly Entry[], kind: Kind): Found | null {
    const near = own.find(({ name, id }) => foldName(name) === foldName(text) || foldName(id) === foldName(text));
    if (near !== undefined) {
      const right = foldName(near.name) === foldName(text) ? near.name : near.id;
      return {
        code: "near-ref",
        message: `"${shownAscii(text)}" isn't in this bundle, but "${shownAscii(right)}" is: names are case-sensitive`,
      };
    }
    const folders = KIND_FOLDERS.filter((folder) => KIND_OF[folder] === kind);
    const folder = folders.find((candidate) => bundle.ignored.includes(`${candidate}/${text}`));
    if (folder === undefined) return null;
    const entry = kind === "task" ? "is a file that ends in .json" : "is a folder: put the file into one";
    const message = `names the file ${shownText(`${folder}/${text}`)}, which the bundle ignores: an entry of ${folder}/ ${entry}`;
    return { code: "ignored-ref", message };
  }
}

function fitting(entry: Entry, kind: Kind, types: readonly string[] | undefined): Found {
  if (types !== undefined && !types.includes(entry.type)) return wrongKind(entry, kind, types);
  return { target: { in: "bundle", kind, id: entry.id } };
}

function fittingImage(id: string, types: readonly string[] | undefined): Found {
  if (types === undefined || types.includes("docker_image")) return { target: { in: "bundle", kind: "artifact", id } };
  return { code: "wrong-kind", message: `${shownValue(id)} is this bundle's image, and the field takes ${expected("artifact", types)}` };
}

function wrongKind(entry: Entry, kind: Kind, types: readonly string[] | undefined): Found {
  const is = `${shownValue(entry.name)} is this bundle's ${entry.type === entry.kind ? entry.kind : `${entry.kind} of type ${entry.type}`}`;
  return { code: "wrong-kind", message: `${is} (${entry.path}), and the field takes ${expected(kind, types)}` };
}

/** What a field takes, for messages: `an env of type mcp_server`. */
export function expected(kind: Kind, types: readonly string[] | undefined): string {
  const article = /^[aeiou]/.test(kind) ? "an" : "a";
  return `${article} ${kind}${types === undefined ? "" : ` of type ${types.join(" or ")}`}`;
}
