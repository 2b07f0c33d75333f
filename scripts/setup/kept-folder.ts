import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Machine } from "./machine.ts";

/** The folder in the cache for what `files` ask for: one for each content, so that a change of theirs makes a new one. */
export function keptFolder(machine: Machine, kind: "npm" | "python", files: readonly string[]): string {
  const digest = createHash("sha256");
  for (const file of files) digest.update(readFileSync(file));
  return join(machine.cacheFolder, kind, digest.digest("hex").slice(0, 12));
}

/** Makes a folder whole or not at all: `fill` works beside it, in one that is moved into place when that is done. */
export async function fillFolder(folder: string, fill: (unfinished: string) => Promise<void>): Promise<void> {
  const unfinished = `${folder}.unfinished`;
  for (const stale of [unfinished, folder]) rmSync(stale, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  await fill(unfinished);
  renameSync(unfinished, folder);
}
