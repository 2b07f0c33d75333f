import { run, which } from "./command.ts";
import { canInstall, type Machine } from "./machine.ts";
import type { Found, Part } from "./part.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

/** The system's Chromium, or null. Browser tests start it through playwright-core. */
export function chromiumPath(): string | null {
  return NAMES.map((name) => which(name)).find((path) => path !== null) ?? null;
}

/** Chromium, for the tests that look at a page. */
export const chromium: Part = {
  name: "chromium",
  tiers: ["browser"],
  helps: ["interop"],
  after: [],

  async look(machine: Machine): Promise<Found> {
    const path = chromiumPath();
    if (path === null) {
      return canInstall(machine)
        ? { state: "mendable", detail: "not installed", packages: ["chromium"] }
        : { state: "missing", why: "no chromium on PATH", next: "install Chromium (on Debian: apt-get install chromium)" };
    }
    const version = await run(path, ["--version"], { budgetSeconds: 20 });
    return version.code === 0
      ? { state: "ready", detail: `${path}: ${version.stdout.trim()}` }
      : { state: "missing", why: `${path} --version ended with ${version.code}`, next: "install Chromium anew" };
  },

  async mend() {
    if (chromiumPath() === null) throw new Error("the package chromium brought no program of that name");
  },
};
