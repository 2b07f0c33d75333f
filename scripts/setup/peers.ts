import { copyFileSync, existsSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { mustRun, which } from "./command.ts";
import { fillFolder, keptFolder } from "./kept-folder.ts";
import { type Machine, thisMachine } from "./machine.ts";
import type { Found, Part, Say } from "./part.ts";

const FILES = ["package.json", "package-lock.json"].map((name) =>
  fileURLToPath(new URL(`../../test/interop/peers/${name}`, import.meta.url)),
);

/** A file of the packages that `test/interop/peers/package.json` names, by its path below `node_modules`. It may not be there yet. */
export function peerFile(path: string, machine: Machine = thisMachine()): string {
  return join(keptFolder(machine, "npm", FILES), "node_modules", path);
}

/** Servers and clients of others from npm, for the tests that run them. They aren't in the checkout's own packages, which everybody installs. */
export const peers: Part = {
  name: "peers",
  tiers: ["interop"],
  after: [],

  async look(machine: Machine): Promise<Found> {
    const folder = keptFolder(machine, "npm", FILES);
    if (existsSync(folder)) return { state: "ready", detail: `${folder}: the packages of test/interop/peers/package.json` };
    return which("npm") === null
      ? { state: "missing", why: "no npm on PATH", next: "install npm" }
      : { state: "mendable", detail: `to be installed into ${folder}`, packages: [] };
  },

  async mend(machine: Machine, say: Say) {
    say("installing the packages of test/interop/peers/package.json");
    await fillFolder(keptFolder(machine, "npm", FILES), async (unfinished) => {
      for (const file of FILES) copyFileSync(file, join(unfinished, basename(file)));
      // Nothing that they would build or download when installed is needed.
      const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", unfinished];
      // npm runs on the first Node of PATH, and what it installs depends on which that is.
      const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}` };
      await mustRun("npm", ["ci", ...options], { budgetSeconds: 300, cwd: unfinished, env });
    });
  },
};
