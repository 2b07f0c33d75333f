import { posix } from "node:path";
import type { Problem } from "@agent-env/protocol";
import { ignoreRules } from "../images/ignore.ts";
import type { FolderEntry } from "./bundle.ts";
import { readConfigText } from "./config-file.ts";
import { type FolderFiles, folderFiles, type LeaveOut, NOTHING_LEFT_OUT } from "./folder-files.ts";
import { listFolder } from "./listing.ts";
import type { BuiltImage } from "./resolved.ts";
import { shownText } from "./shown.ts";

/** An image that is built from the entry's files, as far as its context depends on it. */
export type ContextOf = Pick<BuiltImage, "key" | "dockerfile">;

/** The files of an entry's folder, walked when they are first asked for. */
export type EntrySources = {
  /** The entry files: all but the entry's own toml (4-bundle §5.1). */
  files(): FolderFiles;
  /** The build context of an image: what its ignore file leaves, the toml included (4-bundle §5.3). */
  context(image: ContextOf): FolderFiles;
  /** Of what has been walked so far. */
  problems(): readonly Problem[];
};

export function entrySources(bundleDisk: string, entry: FolderEntry): EntrySources {
  const contexts = new Map<string, FolderFiles>();
  let files: FolderFiles | undefined;
  const place = { bundleDisk, disk: entry.disk, shown: entry.path };

  return {
    files() {
      files ??= folderFiles({ ...place, leaveOut: { file: (path) => path === entry.tomlName, folder: () => false } });
      return files;
    },
    context({ dockerfile }) {
      const known = contexts.get(dockerfile);
      if (known !== undefined) return known;
      const { rules, problems } = ignoreRulesOf(entry, dockerfile);
      const walked = folderFiles({ ...place, leaveOut: rules });
      const context = { files: walked.files, problems: [...problems, ...walked.problems] };
      contexts.set(dockerfile, context);
      return context;
    },
    problems: () => [...(files?.problems ?? []), ...[...contexts.values()].flatMap(({ problems }) => problems)],
  };
}

type IgnoreRules = { readonly rules: LeaveOut; readonly problems: readonly Problem[] };

/** `<Dockerfile>.dockerignore` beside the Dockerfile goes before `.dockerignore` at the folder's top. */
export function ignoreRulesOf(entry: Pick<FolderEntry, "disk" | "path">, dockerfile: string): IgnoreRules {
  const path = [`${dockerfile}.dockerignore`, ".dockerignore"].find((candidate) => isFile(entry, candidate));
  if (path === undefined) return { rules: NOTHING_LEFT_OUT, problems: [] };
  const refuse = (message: string): IgnoreRules => ({
    rules: NOTHING_LEFT_OUT,
    problems: [{ code: "bad-config", path: shownText(`${entry.path}/${path}`), message }],
  });
  const read = readConfigText(posix.join(entry.disk, path));
  if ("problem" in read) return refuse(read.problem);
  try {
    return { rules: ignoreRules(read.text, [dockerfile, path]), problems: [] };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return refuse(`holds a pattern that can't be one: ${error.message}`);
  }
}

function isFile(entry: Pick<FolderEntry, "disk">, path: string): boolean {
  const folder = posix.dirname(path);
  const { items } = listFolder(folder === "." ? entry.disk : posix.join(entry.disk, folder), "");
  return items.some(({ name, what }) => name === posix.basename(path) && what === "file");
}
