import { closeSync, type Dirent, lstatSync, openSync, readdirSync, readlinkSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Problem, ProblemCode } from "@agent-env/protocol";
import { byCodePoint } from "./code-points.ts";
import { ioReason, missingReason } from "./config-file.ts";
import { shownAscii, shownText } from "./shown.ts";

/** The most bytes that Node reads at once; a store is given a file whole, so none may have more. */
export const MAX_FILE_BYTES = 2 ** 31 - 1;

/** One regular file of an entry's folder. */
export type EntryFile = {
  /** Relative to the folder, with `/`, in NFC. */
  readonly path: string;
  readonly disk: string;
  readonly executable: boolean;
};

/** What a folder holds beside files: a folder with nothing in it and, where it is taken as it lies on the disk, a link. */
export type OtherItem =
  | { readonly path: string; readonly is: "folder" }
  | { readonly path: string; readonly is: "link"; readonly target: string };

export type FolderFiles = {
  readonly files: readonly EntryFile[];
  readonly others?: readonly OtherItem[];
  readonly problems: readonly Problem[];
};

/** What the system leaves behind: never content, in any folder (4-bundle §1.7). */
export function isLeftover(name: string): boolean {
  return LEFTOVERS.has(name);
}
const LEFTOVERS = new Set([".DS_Store", "Thumbs.db", "desktop.ini", "__pycache__"]);

/** Decides what isn't looked at, by paths relative to the folder. */
export type LeaveOut = {
  file(path: string): boolean;
  /** Nothing under that folder is looked at. */
  folder(path: string): boolean;
};

/** One walk: what it looks for, and what it has found. */
type Walk = {
  /** The bundle's own folder, as the file system knows it. */
  readonly bundle: string;
  readonly shown: string;
  readonly leaveOut: LeaveOut;
  readonly files: EntryFile[];
  readonly others: OtherItem[];
  readonly followsLinks: boolean;
  readonly problems: Problem[];
};

/** One item of a folder that is walked. */
type Item = {
  readonly dirent: Dirent;
  readonly disk: string;
  readonly path: string;
  readonly isFileOut: boolean;
  readonly isFolderOut: boolean;
};

export const NOTHING_LEFT_OUT: LeaveOut = { file: () => false, folder: () => false };

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
  const { bundleDisk, disk, shown, leaveOut = NOTHING_LEFT_OUT } = options;
  const walk: Walk = { bundle: identity(statSync(bundleDisk)), shown, leaveOut, files: [], others: [], followsLinks: true, problems: [] };
  return walked(walk, disk);
}

/** All that lies under `disk`, as a put takes it (4-bundle §10.1): links as links wherever they lead, and empty folders too. */
export function folderAsItIs(options: { readonly disk: string; readonly shown: string; readonly leaveOut: LeaveOut }): FolderFiles {
  const { disk, shown, leaveOut } = options;
  return walked({ bundle: identity(statSync(disk)), shown, leaveOut, files: [], others: [], followsLinks: false, problems: [] }, disk);
}

function walked(walk: Walk, disk: string): FolderFiles {
  walkFolder(walk, disk, "", [identity(statSync(disk))]);
  walk.files.sort((a, b) => byCodePoint(a.path, b.path));
  return { files: walk.files, others: walk.others, problems: walk.problems };
}

function problem({ problems, shown }: Walk, code: ProblemCode, path: string, message: string): void {
  problems.push({ code, path: shownText(path === "" ? shown : `${shown}/${path}`), message });
}

/** `above` are the folders that hold this one, itself included. */
function walkFolder(walk: Walk, folder: string, path: string, above: readonly string[]): void {
  const names = new Map<string, string>();
  const dirents = readFolder(walk, folder, path)?.filter(({ name }) => !isLeftover(name));
  if (dirents?.length === 0 && path !== "" && !walk.leaveOut.file(path)) walk.others.push({ path, is: "folder" });
  for (const dirent of dirents ?? []) {
    const name = dirent.name.normalize("NFC");
    const itemPath = path === "" ? name : `${path}/${name}`;
    const twin = names.get(name);
    if (twin === undefined) visit(walk, itemOf(walk, dirent, join(folder, dirent.name), itemPath), above);
    else {
      const both = `${shownAscii(twin)} and ${shownAscii(dirent.name)}`;
      problem(walk, "nfc-twins", itemPath, `${both} are one name in Unicode's composed form: rename one`);
    }
    names.set(name, dirent.name);
  }
}

function readFolder(walk: Walk, folder: string, path: string): Dirent[] | null {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    problem(walk, "special", path, `can't be read: ${ioReason(error)}`);
    return null;
  }
}

function itemOf({ leaveOut }: Walk, dirent: Dirent, disk: string, path: string): Item {
  return { dirent, disk, path, isFileOut: leaveOut.file(path), isFolderOut: leaveOut.folder(path) };
}

function visit(walk: Walk, item: Item, above: readonly string[]): void {
  const { disk, path, isFileOut, isFolderOut } = item;
  if (isFileOut && isFolderOut) return;
  if (!walk.followsLinks && item.dirent.isSymbolicLink()) {
    if (!isFileOut) walk.others.push({ path, is: "link", target: readlinkSync(disk) });
    return;
  }
  const stats = itemStats(walk, item);
  if (stats === null) return;
  if (!stats.isDirectory()) {
    if (!isFileOut) visitFile(walk, item, stats);
    return;
  }
  if (isFolderOut) return;
  if (above.includes(identity(stats))) {
    if (!isFileOut) problem(walk, "link-up", path, "leads to a folder that holds it: remove the link");
  } else walkFolder(walk, disk, path, [...above, identity(stats)]);
}

function visitFile(walk: Walk, { disk, path }: Item, stats: Stats): void {
  if (!stats.isFile()) {
    problem(walk, "special", path, "is neither a file nor a folder");
    return;
  }
  if (stats.size > MAX_FILE_BYTES) {
    const message = `has ${stats.size} bytes, and a store takes files of at most ${MAX_FILE_BYTES}: take it out of the folder, or out of an image's context by .dockerignore`;
    problem(walk, "too-large", path, message);
  }
  try {
    closeSync(openSync(disk, "r"));
    walk.files.push({ path, disk, executable: (stats.mode & 0o100) !== 0 });
  } catch (error) {
    problem(walk, "special", path, `can't be read: ${ioReason(error)}`);
  }
}

/** What an item is after following links; null when it is refused, or left out. */
function itemStats(walk: Walk, { dirent, disk, path, isFileOut }: Item): Stats | null {
  try {
    if (!dirent.isSymbolicLink()) return lstatSync(disk);
    const stats = statSync(disk);
    if (isFileOut && !stats.isDirectory()) return null;
    if (isInside(realpathSync.native(disk), walk.bundle)) return stats;
    if (!isFileOut) problem(walk, "outside", path, "leads out of the bundle: put what it points to into the bundle");
  } catch (error) {
    const reason = missingReason(dirent.name, error);
    if (!isFileOut) problem(walk, "special", path, dirent.isSymbolicLink() ? `is a broken link: ${reason}` : `can't be read: ${reason}`);
  }
  return null;
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
