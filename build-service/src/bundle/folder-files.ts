import { type Dirent, lstatSync, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Problem } from "@agent-env/protocol";
import { byCodePoint } from "./code-points.ts";
import { ioReason } from "./config-file.ts";
import { shownAscii, shownText } from "./shown.ts";

/** One regular file of an entry's folder. */
export type EntryFile = {
  /** Relative to the folder, with `/`, in NFC. */
  readonly path: string;
  readonly disk: string;
  readonly executable: boolean;
};

export type FolderFiles = { readonly files: readonly EntryFile[]; readonly problems: readonly Problem[] };

/** What the system leaves behind: never content, in any folder (4-bundle §1.7). */
export function isLeftover(name: string): boolean {
  return LEFTOVERS.has(name);
}
const LEFTOVERS = new Set([".DS_Store", "Thumbs.db", "desktop.ini", "__pycache__"]);

/** Decides what isn't looked at. Both are given paths relative to the folder. */
export type LeaveOut = { file(path: string): boolean; folder(path: string): boolean };

/**
 * All regular files under `disk`, sorted by code point (4-bundle §5.1–2). Links are followed as long as they stay in the
 * bundle. `shown` is the folder's path in the bundle, which the problems start with.
 */
export function folderFiles(options: {
  readonly bundleDisk: string;
  readonly disk: string;
  readonly shown: string;
  readonly leaveOut?: LeaveOut;
}): FolderFiles {
  const { bundleDisk, disk, shown, leaveOut } = options;
  const files: EntryFile[] = [];
  const problems: Problem[] = [];
  const bundle = identity(statSync(bundleDisk));

  function problem(code: string, path: string, message: string): void {
    problems.push({ code, path: shownText(path === "" ? shown : `${shown}/${path}`), message });
  }

  /** `above` are the identities of the folders that hold this one, itself included. */
  function walk(folder: string, path: string, above: readonly string[]): void {
    const names = new Map<string, string>();
    for (const dirent of readFolder(folder, path)) {
      if (isLeftover(dirent.name)) continue;
      const name = dirent.name.normalize("NFC");
      const itemPath = path === "" ? name : `${path}/${name}`;
      const other = names.get(name);
      if (other !== undefined) {
        problem(
          "nfc-twins",
          itemPath,
          `${shownAscii(other)} and ${shownAscii(dirent.name)} are one name in Unicode's composed form: rename one`,
        );
        continue;
      }
      names.set(name, dirent.name);
      visit(dirent, join(folder, dirent.name), itemPath, above);
    }
  }

  function readFolder(folder: string, path: string): Dirent[] {
    try {
      return readdirSync(folder, { withFileTypes: true });
    } catch (error) {
      problem("special", path, `can't be read: ${ioReason(error)}`);
      return [];
    }
  }

  function visit(dirent: Dirent, itemDisk: string, path: string, above: readonly string[]): void {
    const leavesOutFile = leaveOut?.file(path) ?? false;
    const leavesOutFolder = leaveOut?.folder(path) ?? false;
    if (leavesOutFile && leavesOutFolder) return;
    const stats = itemStats(dirent, itemDisk, path, leavesOutFile);
    if (stats === null) return;
    if (stats.isDirectory()) {
      if (!leavesOutFolder) visitFolder(itemDisk, path, above, identity(stats));
    } else if (!leavesOutFile) {
      if (stats.isFile()) files.push({ path, disk: itemDisk, executable: (stats.mode & 0o100) !== 0 });
      else problem("special", path, "is neither a file nor a folder");
    }
  }

  function visitFolder(itemDisk: string, path: string, above: readonly string[], itself: string): void {
    if (above.includes(itself)) problem("link-up", path, "leads to a folder that holds it: remove the link");
    else walk(itemDisk, path, [...above, itself]);
  }

  function itemStats(dirent: Dirent, itemDisk: string, path: string, leavesOutFile: boolean): Stats | null {
    try {
      if (!dirent.isSymbolicLink()) return lstatSync(itemDisk);
      const stats = statSync(itemDisk);
      const isOut = !stats.isDirectory() && leavesOutFile;
      if (!isOut && !isInside(realpathSync.native(itemDisk), bundle)) {
        problem("outside", path, "leads out of the bundle: put what it points to into the bundle");
        return null;
      }
      return stats;
    } catch (error) {
      const reason = ioReason(error);
      if (!leavesOutFile) problem("special", path, dirent.isSymbolicLink() ? `is a broken link: ${reason}` : `can't be read: ${reason}`);
      return null;
    }
  }

  walk(disk, "", [identity(statSync(disk))]);
  files.sort((a, b) => byCodePoint(a.path, b.path));
  return { files, problems };
}

/** Whether the path or a folder above it is that one, however either is spelled. */
function isInside(disk: string, folder: string): boolean {
  for (let current = disk; ; current = dirname(current)) {
    if (identity(statSync(current)) === folder) return true;
    if (dirname(current) === current) return false;
  }
}

function identity(stats: Stats): string {
  return `${stats.dev}:${stats.ino}`;
}
