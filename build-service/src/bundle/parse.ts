import { realpathSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { foldName, nearName, type Problem, sortedProblems } from "@agent-env/protocol";
import { type Bundle, type Entry, KIND_FOLDERS, type KindFolder } from "./bundle.ts";
import { byCodePoint } from "./code-points.ts";
import { ioReason } from "./config-file.ts";
import { type InstalledBundle, idRootOf } from "./id-root.ts";
import { type Item, listFolder, misspeltProblems, twinProblems, withoutDotNames } from "./listing.ts";
import { LOCK_FILE, readLockFile } from "./lock-file.ts";
import { parseFileEntry } from "./parse-file.ts";
import { parseFolderEntry } from "./parse-folder.ts";
import { readmeDescription } from "./readme.ts";
import { listed, shownText } from "./shown.ts";

export type Parsed = { readonly bundle: Bundle | null; readonly problems: readonly Problem[] };

/** What parsing one kind folder, or one entry, gives. */
export type ParsedEntries = {
  readonly entries: readonly Entry[];
  readonly ignored: readonly string[];
  readonly problems: readonly Problem[];
};

/**
 * Reads a folder as a bundle (4-bundle §1–2): listings and config files, nothing else. All problems at once; one of an
 * entry skips only that entry. `bundle` is null where the folder is none.
 */
export function parseBundle(folder: string, installed?: InstalledBundle): Parsed {
  const opened = openFolder(folder);
  if ("code" in opened) return { bundle: null, problems: [opened] };
  const { disk } = opened;
  const root = listFolder(disk, "");
  const items = withoutDotNames(root.items);
  const rootProblems = [
    ...root.problems,
    ...twinProblems(items),
    ...misspeltProblems(items, RESERVED),
    ...reservedFileProblems(items),
    ...lockFolderProblems(items),
  ];
  const kindFolders = KIND_FOLDERS.filter((name) => items.some((item) => item.name === name));
  if (kindFolders.length === 0 && rootProblems.length === 0) return { bundle: null, problems: [notABundle(folder, items)] };

  const { idRoot, problems: idProblems } = idRootOf(disk, installed);
  const parsed = kindFolders.map((kind) => parseKindFolder(kind, items, idRoot));
  const entries = parsed.flatMap((kind) => kind.entries);
  const lock = readLockFile(items.find(({ name, what }) => name === LOCK_FILE && what === "file")?.disk ?? null);
  const others = items.filter(({ name }) => name !== LOCK_FILE && !KIND_FOLDERS.some((kind) => kind === name)).map(({ path }) => path);
  const problems = [
    ...rootProblems,
    ...idProblems,
    ...lock.problems,
    ...parsed.flatMap((kind) => kind.problems),
    ...sameIds(entries),
    ...sameNames(entries),
  ];
  const bundle = {
    disk,
    name: basename(disk).normalize("NFC"),
    idRoot,
    description: readmeDescription(
      disk,
      items.filter(({ what }) => what === "file").map(({ name }) => name),
    ),
    entries,
    locked: lock.locked,
    ignored: [...others, ...parsed.flatMap((kind) => kind.ignored)],
  };
  return { bundle, problems: sortedProblems(problems) };
}

const RESERVED = [...KIND_FOLDERS, "aliases.toml", LOCK_FILE];

function openFolder(folder: string): { readonly disk: string } | Problem {
  const refuse = (message: string): Problem => ({ code: "no-folder", path: shownText(folder), message });
  try {
    if (!statSync(folder).isDirectory()) return refuse("is a file: name the folder that holds the bundle");
    const disk = realpathSync.native(resolve(folder));
    return disk === resolve("/") ? refuse("is the file system's root, which can be no bundle: name a folder in it") : { disk };
  } catch (error) {
    return refuse(`can't be opened: ${ioReason(error)}`);
  }
}

/** Folders that aren't read, and have nearly the name of one that is. */
export function nearFolders(items: readonly Item[]): { readonly path: string; readonly near: string }[] {
  return items
    .filter(({ name, what }) => what === "folder" && !KIND_FOLDERS.some((folder) => folder === name))
    .flatMap(({ name, path }) => {
      const near = nearName(name, KIND_FOLDERS);
      return near === null ? [] : [{ path: shownText(path), near }];
    });
}

function notABundle(folder: string, items: readonly Item[]): Problem {
  const near = nearFolders(items).map(({ path, near }) => `; ${path}/ is probably ${near}/`);
  const message = `is no bundle: it has none of the folders ${listed(KIND_FOLDERS)}${near.join("")}`;
  return { code: "not-a-bundle", path: shownText(folder), message };
}

function reservedFileProblems(items: readonly Item[]): Problem[] {
  return items
    .filter(({ name }) => foldName(name) === "bundle.toml")
    .map(({ path }) => ({
      code: "reserved-file",
      path: shownText(path),
      message: "is a reserved name: a bundle is named by its folder and described by README.md; remove the file",
    }));
}

function lockFolderProblems(items: readonly Item[]): Problem[] {
  const isFolder = items.some(({ name, what }) => name === LOCK_FILE && what === "folder");
  return isFolder ? [{ code: "special", path: LOCK_FILE, message: "is a folder where a file belongs" }] : [];
}

function parseKindFolder(folder: KindFolder, rootItems: readonly Item[], idRoot: string): ParsedEntries {
  const item = rootItems.find(({ name }) => name === folder);
  if (item?.what !== "folder") {
    return { entries: [], ignored: [], problems: [{ code: "special", path: folder, message: "is a file where a folder belongs" }] };
  }
  const listing = listFolder(item.disk, folder);
  const items = withoutDotNames(listing.items);
  const parsed = items.map((child) =>
    folder === "tasks" || folder === "evals" ? parseFileEntry(folder, child, idRoot) : parseFolderEntry(folder, child, idRoot),
  );
  return {
    entries: parsed.flatMap(({ entries }) => entries).sort((a, b) => byCodePoint(a.name, b.name)),
    ignored: parsed.flatMap(({ ignored }) => ignored),
    problems: [...listing.problems, ...twinProblems(items), ...parsed.flatMap(({ problems }) => problems)],
  };
}

function sameIds(entries: readonly Entry[]): Problem[] {
  const byId = Map.groupBy(entries, ({ kind, id }) => `${kind} ${id}`);
  return [...byId.values()].flatMap(([first, ...others]) =>
    others
      .filter((other) => first === undefined || !areArtifactAndSkill(first, other))
      .map((other) => ({
        code: "same-id",
        path: `${first?.path} and ${other.path}`,
        message: `have one id, ${JSON.stringify(other.id)}: give one of them another`,
      })),
  );
}

/** Which `sameNames` tells of. */
function areArtifactAndSkill(one: Entry, other: Entry): boolean {
  return one.folder !== other.folder && foldName(one.name) === foldName(other.name) && other.folder === "skills";
}

function sameNames(entries: readonly Entry[]): Problem[] {
  const skills = entries.filter(({ folder }) => folder === "skills");
  return entries
    .filter(({ folder }) => folder === "artifacts")
    .flatMap((artifact) => {
      const skill = skills.find(({ name }) => foldName(name) === foldName(artifact.name));
      if (skill === undefined) return [];
      const path = `${artifact.path} and ${skill.path}`;
      return [{ code: "same-name", path, message: "an artifact and a skill of one name would be one id in the store: rename one" }];
    });
}
