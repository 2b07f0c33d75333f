import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { UserError } from "@agent-env/protocol";
import { BundleManifest, type InstalledBundle } from "../bundle/id-root.ts";

export type FoundBundle = { readonly folder: string; readonly installed: InstalledBundle | null; readonly note: string | null };

const packageFolder = fileURLToPath(new URL("../../", import.meta.url));

/** The bundles that ship with the CLI: name → folder. */
export function shippedBundles(): ReadonlyMap<string, string> {
  const manifest = BundleManifest.parse(JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")));
  return new Map(Object.entries(manifest.agentEnv.bundles).map(([name, path]) => [name, join(packageFolder, path)]));
}

/**
 * The bundle that a person names: a folder, or the name of an installed one. A folder of that name wins, and `note` says
 * so (5-run §13.6). Throws a UserError when there is neither.
 */
export function findBundle(asked: string, cwd: string): FoundBundle {
  if (asked === "") {
    throw new UserError({
      what: "the bundle: its name is empty",
      why: "a folder or an installed bundle is named",
      next: "agent-env run lists the installed ones",
    });
  }
  const shipped = shippedBundles();
  const folder = shipped.get(asked);
  const isFolder = statSync(resolve(cwd, asked), { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder || asked.includes("/")) {
    const note = folder === undefined ? null : `${asked}: the folder here, not the installed bundle of that name`;
    return { folder: resolve(cwd, asked), installed: null, note };
  }
  if (folder !== undefined) return { folder, installed: { package: "agent-env", name: asked }, note: null };
  throw new UserError({
    what: `${asked}: no such bundle`,
    why: `it is no folder in ${cwd}, and the installed bundles are: ${[...shipped.keys()].join(", ")}`,
    next: "give a bundle's folder, or one of these names",
  });
}
