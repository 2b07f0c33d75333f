import { realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { type Problem, UserError } from "@agent-env/protocol";
import { KIND_FOLDERS } from "../bundle/bundle.ts";
import { type EntrySources, ignoreRulesOf } from "../bundle/entry-sources.ts";
import { type FolderFiles, folderAsItIs } from "../bundle/folder-files.ts";
import { fileIn } from "../bundle/resolve-images.ts";
import { shownText, shownValue } from "../bundle/shown.ts";

/** A folder that an image is built from, and the Dockerfile in it. */
export type ContextFolder = {
  readonly disk: string;
  /** As the user named it, for messages. */
  readonly shown: string;
  /** What a record says it was built from: `envs/items` for an entry of a bundle, else the folder's own name, never a path. */
  readonly recorded: string;
  /** The Dockerfile's path in it. */
  readonly dockerfile: string;
};

/** The options that named it, for messages: `--dockerfile`, `--context`. */
export type ContextOptions = { readonly dockerfile: string; readonly context: string };

/** Opens the folder that a Dockerfile is built in: `context`, else the Dockerfile's own. Throws a UserError that names the option. */
export function openContext(
  given: { readonly dockerfile: string; readonly context: string | undefined },
  cwd: string,
  options: ContextOptions,
): ContextFolder {
  const dockerfile = resolve(cwd, given.dockerfile);
  if (!statSync(dockerfile, { throwIfNoEntry: false })?.isFile()) {
    throw new UserError({
      what: `${options.dockerfile}: ${shownValue(given.dockerfile)} is not a file`,
      why: statSync(dockerfile, { throwIfNoEntry: false }) ? "it is a folder" : "nothing of that name is there",
      next: "name the Dockerfile itself, as in envs/items/Dockerfile",
    });
  }
  const folder = given.context === undefined ? dirname(dockerfile) : resolve(cwd, given.context);
  const shown = given.context ?? dirname(given.dockerfile);
  const disk = openFolder(folder, shown, options.context);
  // Links above the Dockerfile may spell its place otherwise than the context's.
  const path = relative(disk, join(realpathSync.native(dirname(dockerfile)), basename(dockerfile)));
  const inside = fileIn(disk, path.split(sep).join("/"));
  if (inside !== null) return { disk, shown, recorded: recordedName(disk), dockerfile: inside };
  throw new UserError({
    what: `${options.dockerfile}: ${shownValue(given.dockerfile)} isn't in its context, ${shownValue(shown)}`,
    why: "a record holds the Dockerfile as a file of the context",
    next: `name a folder that holds it with ${options.context}, or copy it there`,
  });
}

/** A folder's canonical path. Throws a UserError where it is none, or the root of all folders. */
export function openFolder(folder: string, shown: string, option: string): string {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    const disk = realpathSync.native(folder);
    if (disk !== resolve("/")) return disk;
    throw new UserError({
      what: `${option}: ${shownValue(shown)} is the file system's root`,
      why: "all files of this machine would be put",
      next: "name a folder in it",
    });
  }
  throw new UserError({
    what: `${option}: ${shownValue(shown)} is not a folder`,
    why: statSync(folder, { throwIfNoEntry: false }) ? "it is a file" : "nothing of that name is there",
    next: "name a folder that is there",
  });
}

/** What a record may say of a folder: its place in a bundle, which is no place on a disk, else its name. */
export function recordedName(disk: string): string {
  const kind = basename(dirname(disk));
  const name = basename(disk).normalize("NFC");
  return KIND_FOLDERS.some((folder) => folder === kind) ? `${kind}/${name}` : name;
}

/** The files of what is put: contexts by image key, as they lie on the disk; `files` of the entry itself. */
export function putSources(contexts: ReadonlyMap<string, ContextFolder>, files: () => FolderFiles): EntrySources {
  const walked = new Map<string, FolderFiles>();
  let own: FolderFiles | undefined;
  return {
    files() {
      own ??= files();
      return own;
    },
    context({ key, dockerfile }) {
      const known = walked.get(key);
      if (known !== undefined) return known;
      const context = contexts.get(key);
      if (context === undefined) throw new Error(`${key}: no context was given for it`);
      const { disk, shown } = context;
      const { rules, problems } = ignoreRulesOf({ disk, path: shown }, dockerfile);
      const found = folderAsItIs({ disk, shown, leaveOut: rules });
      const result = { ...found, problems: [...problems, ...found.problems, ...linkedDockerfile(found, context)] };
      walked.set(key, result);
      return result;
    },
    problems: (): readonly Problem[] => [own, ...walked.values()].flatMap((found) => found?.problems ?? []),
  };
}

function linkedDockerfile({ files }: FolderFiles, { dockerfile, shown }: ContextFolder): Problem[] {
  if (files.some(({ path }) => path === dockerfile)) return [];
  const message = "is a link, or lies behind one, and a put takes links as links: name the file that it leads to";
  return [{ code: "image-file", path: shownText(`${shown}/${dockerfile}`), message }];
}

/** For what has no files of its own. */
export const NO_FILES = (): FolderFiles => ({ files: [], problems: [] });
