import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { UserError } from "@agent-env/protocol";
import type { InstalledBundle } from "../bundle/id-root.ts";
import { isInEffect } from "../plugins/contribution.ts";
import { ownPackage } from "../plugins/own-package.ts";
import type { FoundPlugins } from "../plugins/plugins.ts";

export type FoundBundle = { readonly folder: string; readonly installed: InstalledBundle | null; readonly note: string | null };

/** A bundle that a package brings. `asked` is the shortest text that names it. */
export type NamedBundle = { readonly asked: string; readonly folder: string; readonly installed: InstalledBundle };

/** The bundles that ship with the CLI, and those of plugins (5-run §13.6). */
export function installedBundles({ packages, contributions }: Pick<FoundPlugins, "packages" | "contributions">): NamedBundle[] {
  const shipped = [...ownPackage().bundles].map(([name, folder]) => ({ asked: name, folder, installed: { package: "agent-env", name } }));
  const ofPlugins = contributions.flatMap((one): NamedBundle[] => {
    const folder = packages.find(({ name }) => name === one.package)?.folder ?? null;
    if (one.kind !== "bundles" || one.status === "replaced" || !isInEffect(one) || folder === null) return [];
    const asked = one.status === "active" ? one.name : `${one.package}/${one.name}`;
    return [{ asked, folder: join(folder, one.path), installed: { package: one.package, name: one.name } }];
  });
  return [...shipped, ...ofPlugins];
}

/**
 * The bundle that a person names: a folder, or an installed one by its name or as `<package>/<name>`. A folder of that name
 * wins, and `note` says so (5-run §13.6). Throws a UserError when there is neither.
 */
export function findBundle(asked: string, cwd: string, plugins: Pick<FoundPlugins, "packages" | "contributions">): FoundBundle {
  if (asked === "") {
    throw new UserError({
      what: "the bundle: its name is empty",
      why: "a folder or an installed bundle is named",
      next: "agent-env run lists the installed ones",
    });
  }
  const bundles = installedBundles(plugins);
  const named = bundles.find((one) => one.asked === asked || `${one.installed.package}/${one.installed.name}` === asked);
  const isFolder = statSync(resolve(cwd, asked), { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder || (asked.includes("/") && named === undefined)) {
    const note = named === undefined ? null : `${asked}: the folder here, not the installed bundle of that name`;
    return { folder: resolve(cwd, asked), installed: null, note };
  }
  if (named !== undefined) return { folder: named.folder, installed: named.installed, note: null };
  const lost = plugins.contributions.filter(({ kind, name, why }) => kind === "bundles" && name === asked && why !== null);
  const why = [
    `it is no folder in ${cwd}, and the installed bundles are: ${bundles.map((one) => one.asked).join(", ")}`,
    ...lost.map((one) => one.why),
  ];
  throw new UserError({ what: `${asked}: no such bundle`, why: why.join("; "), next: "give a bundle's folder, or one of these names" });
}
