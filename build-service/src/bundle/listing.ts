import { type Dirent, readdirSync, type Stats, statSync } from "node:fs";
import { basename, join } from "node:path";
import { foldName, type Problem } from "@agent-env/protocol";
import { byCodePoint } from "./code-points.ts";
import { ioReason, missingReason } from "./config-file.ts";
import { isLeftover } from "./folder-files.ts";
import { shownAscii, shownText } from "./shown.ts";

/** One item of a folder, after following links. */
export type Item = {
  /** In NFC. */
  readonly name: string;
  /** Relative to the bundle. */
  readonly path: string;
  readonly disk: string;
  readonly what: "file" | "folder";
};

export type Listing = { readonly items: readonly Item[]; readonly problems: readonly Problem[] };

/** What lies in a folder, by code point of its name, without what the system leaves. `shown` is its path in the bundle. */
export function listFolder(disk: string, shown: string): Listing {
  const items: Item[] = [];
  const problems: Problem[] = [];
  for (const dirent of direntsIn(disk, shown, problems)) {
    const raw = dirent.name;
    if (isLeftover(raw)) continue;
    const name = raw.normalize("NFC");
    const path = shown === "" ? name : `${shown}/${name}`;
    const item = itemAt(join(disk, raw), dirent);
    if (typeof item === "string") problems.push({ code: "special", path: shownText(path), message: item });
    else items.push({ name, path, disk: join(disk, raw), what: item.isDirectory() ? "folder" : "file" });
  }
  items.sort((a, b) => byCodePoint(a.name, b.name));
  return { items, problems };
}

/** The items that a bundle reads: dot names are never looked at (4-bundle §1.2). */
export function withoutDotNames(items: readonly Item[]): Item[] {
  return items.filter(({ name }) => !name.startsWith("."));
}

function direntsIn(disk: string, shown: string, problems: Problem[]): Dirent[] {
  try {
    return readdirSync(disk, { withFileTypes: true });
  } catch (error) {
    problems.push({ code: "special", path: shownText(shown), message: `can't be read: ${ioReason(error)}` });
    return [];
  }
}

function itemAt(disk: string, dirent: Dirent): Stats | string {
  try {
    const stats = statSync(disk);
    return stats.isDirectory() || stats.isFile() ? stats : "is neither a file nor a folder";
  } catch (error) {
    const reason = missingReason(dirent.name, error);
    return dirent.isSymbolicLink() ? `is a broken link: ${reason}` : `can't be read: ${reason}`;
  }
}

/** Siblings whose names differ only in case or Unicode form, which not every file system tells apart (4-bundle §1.5). */
export function twinProblems(items: readonly Item[]): Problem[] {
  const byFolded = Map.groupBy(items, ({ name }) => foldName(name));
  return [...byFolded.values()].flatMap(([first, ...others]) =>
    others.map((other) => ({
      code: "twins",
      path: shownText(`${first?.path} and ${other.path}`),
      message: first?.name === other.name ? sameInNfc(first, other) : "differ only in case or Unicode form: rename one",
    })),
  );
}

/** Two names that look alike, as the disk spells them. */
function sameInNfc(one: Item, other: Item): string {
  const [a, b] = [one, other].map(({ disk }) => shownAscii(basename(disk)));
  return `are one name in Unicode's composed form, ${a} and ${b}: rename one`;
}

/** Items whose names fold like a reserved name without being it. */
export function misspeltProblems(items: readonly Item[], reserved: readonly string[]): Problem[] {
  return items.flatMap((item) => {
    const right = reserved.find((name) => name !== item.name && foldName(name) === foldName(item.name));
    // Where the right name is there too, the two are twins.
    if (right === undefined || items.some(({ name }) => name === right)) return [];
    return [
      { code: "misspelt", path: shownText(item.path), message: `rename it to ${right}: names are case-sensitive${escapedNote(item.name)}` },
    ];
  });
}

function escapedNote(name: string): string {
  const ascii = shownAscii(name);
  return ascii === name ? "" : `, and this one is ${ascii}`;
}
