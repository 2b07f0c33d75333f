import { readFileSync } from "node:fs";
import type { Bundle } from "./bundle.ts";
import type { CheckedEntity, Warning } from "./checked.ts";
import { listFolder, withoutDotNames } from "./listing.ts";
import { unusedLocks } from "./lock-file.ts";
import { nearFolders } from "./parse.ts";
import type { ResolvedEntry } from "./resolved.ts";
import { shownText } from "./shown.ts";

/** What lies in a bundle beside its entries, does nothing, and was probably meant to. `entries` are all of it. */
export function bundleWarnings(bundle: Bundle, entries: readonly ResolvedEntry[]): Warning[] {
  const items = withoutDotNames(listFolder(bundle.disk, "").items);
  const misnamed = nearFolders(items).map(({ path, near }) => ({ path, message: `isn't read: probably ${near}/` }));
  return [...unusedLocks(bundle, entries), ...misnamed];
}

/** Dockerfiles with nothing but blank lines and comments. */
export function emptyDockerfiles({ resolved, sources, isRefused }: CheckedEntity): Warning[] {
  if (sources === null || isRefused) return [];
  return resolved.builds
    .filter((build) => sources.context(build).files.some(({ path, disk }) => path === build.dockerfile && isEmpty(disk)))
    .map(({ dockerfile }) => ({
      path: shownText(`${resolved.entry.path}/${dockerfile}`),
      message: "is empty: no image can be built from it",
    }));
}

function isEmpty(disk: string): boolean {
  const lines = readFileSync(disk, "utf8").split("\n");
  return lines.every((line) => line.trim() === "" || line.trimStart().startsWith("#"));
}
