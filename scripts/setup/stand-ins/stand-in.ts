import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Machine } from "../machine.ts";
import type { Say } from "../part.ts";
import type { MachineSettings } from "./debian.ts";

/** A public base image, and how a local one that can stand in for it is made. */
export type StandIn = {
  /** The official name, which it is tagged with. */
  readonly tag: string;
  /** The folder in `images/` that holds its Dockerfile and what that copies. */
  readonly folder: string;
  /** The stand-in it is built from. */
  readonly base: string | null;
  /** What of the machine, and which pinned versions, it is made of apart from its folder. */
  ingredients(machine: Machine, settings: MachineSettings): unknown;
  /** Adds to the build context `context` what isn't in the folder. */
  prepare(task: { context: string; machine: Machine; settings: MachineSettings; say: Say }): Promise<void>;
};

/** The folder of a stand-in's own files. */
export function sourceFolder(standIn: StandIn): string {
  return fileURLToPath(new URL(`images/${standIn.folder}`, import.meta.url));
}

/** Names everything a stand-in is made of. It changes when the stand-in has to be made anew; 16 hex digits. */
export function recipeOf(standIn: StandIn, baseRecipe: string | null, ingredients: unknown): string {
  const hash = createHash("sha256").update(JSON.stringify([standIn.tag, baseRecipe, ingredients]));
  for (const name of readdirSync(sourceFolder(standIn)).sort()) {
    hash.update(`\0${name}\0`).update(readFileSync(join(sourceFolder(standIn), name)));
  }
  return hash.digest("hex").slice(0, 16);
}
