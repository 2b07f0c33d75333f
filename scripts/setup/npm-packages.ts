import { copyFileSync, existsSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { mustRun, which } from "./command.ts";
import { fillFolder, keptFolder } from "./kept-folder.ts";
import { type Machine, thisMachine } from "./machine.ts";
import type { Found, Part, Say } from "./part.ts";

/** Packages of others that aren't in the checkout's own, which everybody installs. */
export type NpmPackages = {
  /** A file of theirs, by its path below `node_modules`. It may not be there yet. */
  file(path: string, machine?: Machine): string;
  readonly part: Part;
};

/** The packages of a folder's `package.json` and lock file, installed into a folder of the cache. */
export function npmPackages(what: Pick<Part, "name" | "tiers"> & { readonly folder: URL; readonly shown: string }): NpmPackages {
  const { name, tiers, folder, shown } = what;
  const files = ["package.json", "package-lock.json"].map((file) => fileURLToPath(new URL(file, folder)));
  const kept = (machine: Machine): string => keptFolder(machine, "npm", files);
  return {
    file: (path, machine = thisMachine()) => join(kept(machine), "node_modules", path),
    part: {
      name,
      tiers,
      after: [],

      async look(machine: Machine): Promise<Found> {
        if (existsSync(kept(machine))) return { state: "ready", detail: `${kept(machine)}: the packages of ${shown}/package.json` };
        return which("npm") === null
          ? { state: "missing", why: "no npm on PATH", next: "install npm" }
          : { state: "mendable", detail: `to be installed into ${kept(machine)}`, packages: [] };
      },

      async mend(machine: Machine, say: Say) {
        say(`installing the packages of ${shown}/package.json`);
        await fillFolder(kept(machine), async (unfinished) => {
          for (const file of files) copyFileSync(file, join(unfinished, basename(file)));
          // Nothing that they would build or download when installed is needed.
          const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", unfinished];
          // npm runs on the first Node of PATH, and what it installs depends on which that is.
          const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}` };
          await mustRun("npm", ["ci", ...options], { budgetSeconds: 300, cwd: unfinished, env });
        });
      },
    },
  };
}
