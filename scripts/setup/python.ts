import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { mustRun, run, which } from "./command.ts";
import { fillFolder, keptFolder } from "./kept-folder.ts";
import { canInstall, type Machine, thisMachine } from "./machine.ts";
import type { Found, Part, Say } from "./part.ts";

const [REQUIREMENTS = "", BARE_REQUIREMENTS = ""] = ["requirements.txt", "requirements-bare.txt"].map((name) =>
  fileURLToPath(new URL(`../../test/interop/${name}`, import.meta.url)),
);
const DEBIAN_PYTHON = "/usr/bin/python3";

/** The Python of the interoperability tests, with what `test/interop/requirements*.txt` name. It may not be there yet. */
export function interopPython(machine: Machine = thisMachine()): string {
  return join(environmentFolder(machine), "bin", "python");
}

/** Python with the original's server SDK and its gateway, for the tests that run the original's servers, clients and gateway. */
export const python: Part = {
  name: "python",
  tiers: ["interop"],
  after: [],

  async look(machine: Machine): Promise<Found> {
    if (existsSync(interopPython(machine))) {
      return { state: "ready", detail: `${interopPython(machine)}: ${requirementLines().join(", ")}` };
    }
    const base = await usablePython();
    if (base !== null) return { state: "mendable", detail: `to be made with ${base}`, packages: [] };
    return canInstall(machine)
      ? { state: "mendable", detail: "no Python 3.10 or newer with venv", packages: ["python3", "python3-venv"] }
      : { state: "missing", why: "no Python 3.10 or newer with the modules venv and ensurepip", next: "install Python 3.10 or newer" };
  },

  async mend(machine: Machine, say: Say) {
    const base = await usablePython();
    if (base === null) throw new Error(`${DEBIAN_PYTHON} has no venv or is older than 3.10`);
    say(`installing ${requirementLines().join(", ")}`);
    // The interpreter finds its packages from where it lies, so the finished folder can be moved into place.
    await fillFolder(environmentFolder(machine), async (unfinished) => {
      await mustRun(base, ["-m", "venv", unfinished], { budgetSeconds: 120 });
      const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
      for (const more of [
        ["-r", REQUIREMENTS],
        ["--no-deps", "-r", BARE_REQUIREMENTS],
      ])
        await mustRun(join(unfinished, "bin", "python"), [...pip, ...more], { budgetSeconds: 300 });
    });
  },
};

function environmentFolder(machine: Machine): string {
  return keptFolder(machine, "python", [REQUIREMENTS, BARE_REQUIREMENTS]);
}

function requirementLines(): string[] {
  return [REQUIREMENTS, BARE_REQUIREMENTS]
    .flatMap((file) => readFileSync(file, "utf8").split("\n"))
    .filter((line) => line !== "" && !line.startsWith("#"));
}

/** A Python that can make an environment: the one on PATH, else Debian's. */
async function usablePython(): Promise<string | null> {
  for (const candidate of [which("python3"), DEBIAN_PYTHON]) {
    if (candidate === null || !existsSync(candidate)) continue;
    const check = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";
    if ((await run(candidate, ["-c", check], { budgetSeconds: 20 })).code === 0) return candidate;
  }
  return null;
}
