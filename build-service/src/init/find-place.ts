import { statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { UserError } from "@agent-env/protocol";
import { type Bundle, KIND_FOLDERS } from "../bundle/bundle.ts";
import { parseBundle } from "../bundle/parse.ts";

/** Where something new goes: into a bundle that is there, or into a new one of that name. */
export type Place = { readonly folder: string; readonly bundle: Bundle | null };

/**
 * The bundle that `cwd` is, or lies in: then what is made is added to it. Elsewhere a new bundle is made in `cwd`, named
 * for what is in it. Throws a UserError where something of that name is there already.
 */
export function placeOf(kind: string, name: string, cwd: string): Place {
  const folder = kind === "bundle" ? null : bundleAround(cwd);
  if (folder !== null) return { folder, bundle: parseBundle(folder).bundle };
  const fresh = join(cwd, name);
  if (statSync(fresh, { throwIfNoEntry: false }) === undefined) return { folder: fresh, bundle: null };
  throw new UserError({
    what: `${name}: is there already`,
    why:
      kind === "bundle" ? "a new bundle gets a folder of its own" : "outside a bundle, init makes one of that name, and overwrites nothing",
    next: kind === "bundle" ? "choose another name" : `choose another name, or run the command in a bundle's folder to add to it`,
  });
}

/** `cwd`, when it is a bundle; or the bundle that holds it in a kind folder, when that bundle can be read whole. */
function bundleAround(cwd: string): string | null {
  if (parseBundle(cwd).bundle !== null) return cwd;
  for (let folder = cwd; dirname(folder) !== folder; folder = dirname(folder)) {
    if (!KIND_FOLDERS.some((kind) => kind === basename(folder))) continue;
    const { bundle, problems } = parseBundle(dirname(folder));
    if (bundle !== null && problems.length === 0) return dirname(folder);
  }
  return null;
}
