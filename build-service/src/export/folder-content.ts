import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { UserError } from "@agent-env/protocol";
import type { SourceEntry } from "../images/builder.ts";

/** What a folder is going to hold, by path. */
export type FolderContent = {
  /** Takes one entry. Throws a UserError where another of that path is there already, or it would leave the folder. */
  add(entry: SourceEntry): void;
  has(path: string): boolean;
  /** Writes all of it into `disk`, an empty folder; `pause` is called after each entry. */
  write(disk: string, pause: () => Promise<void>): Promise<void>;
};

/** `of` is what is exported, for messages. */
export function folderContent(of: string): FolderContent {
  const entries = new Map<string, SourceEntry>();

  function add(entry: SourceEntry): void {
    const { path } = entry;
    if (!isInside(path)) throw refusal(of, `it holds a file at ${JSON.stringify(path)}, which leads out of a folder`);
    const other = entries.get(path);
    if (other !== undefined && !isSame(other, entry))
      throw refusal(of, `two of its parts hold ${JSON.stringify(path)}, and not the same there`);
    entries.set(path, entry);
  }

  return {
    add,
    has: (path) => entries.has(path),
    async write(disk, pause) {
      for (const [path, entry] of entries) {
        const above = foldersAbove(path).find((folder) => (entries.get(folder)?.kind ?? "folder") !== "folder");
        // What lies below a link would be written wherever that leads.
        if (above !== undefined) throw refusal(of, `it holds ${JSON.stringify(path)}, and ${JSON.stringify(above)} is no folder`);
        writeEntry(join(disk, path), entry);
        await pause();
      }
    },
  };
}

function writeEntry(disk: string, entry: SourceEntry): void {
  mkdirSync(entry.kind === "folder" ? disk : dirname(disk), { recursive: true });
  if (entry.kind === "file") writeFileSync(disk, entry.bytes(), { mode: entry.executable ? 0o755 : 0o644, flag: "wx" });
  else if (entry.kind === "link") symlinkSync(entry.target, disk);
}

function isSame(a: SourceEntry, b: SourceEntry): boolean {
  if (a.kind === "file" && b.kind === "file") return a.executable === b.executable && Buffer.from(a.bytes()).equals(b.bytes());
  return a.kind === b.kind && (a.kind !== "link" || (b.kind === "link" && a.target === b.target));
}

function isInside(path: string): boolean {
  const isPlain = path !== "" && !path.includes("\0") && !path.includes("\\") && posix.normalize(path) === path;
  return isPlain && !posix.isAbsolute(path) && !path.endsWith("/") && path !== "." && path !== ".." && !path.startsWith("../");
}

function foldersAbove(path: string): string[] {
  const above = posix.dirname(path);
  return above === "." ? [] : [above, ...foldersAbove(above)];
}

function refusal(of: string, why: string): UserError {
  return new UserError({
    what: `${of}: can't be written as one folder`,
    why,
    next: "get its parts one by one: agent-env artifact get ID --out FOLDER",
  });
}
