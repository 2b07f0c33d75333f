import { existsSync } from "node:fs";
import { chromiumPath } from "../../build-service/src/check-site/browser.ts";
import { run } from "./command.ts";
import { canInstall, type Machine } from "./machine.ts";
import type { Found, Part } from "./part.ts";

/** Chromium, for the tests that look at a page. */
export const chromium: Part = {
  name: "chromium",
  tiers: ["browser"],
  helps: ["interop"],
  after: [],

  async look(machine: Machine): Promise<Found> {
    const path = chromiumPath(process.env);
    if (path === null) {
      return canInstall(machine)
        ? { state: "mendable", detail: "not installed", packages: ["chromium"] }
        : { state: "missing", why: "no chromium on PATH", next: "install Chromium (on Debian: apt-get install chromium)" };
    }
    if (!existsSync(path)) return { state: "missing", why: `nothing is at ${path}`, next: "set AGENT_ENV_CHROMIUM to a Chromium" };
    const version = await run(path, ["--version"], { budgetSeconds: 20 });
    return version.code === 0
      ? { state: "ready", detail: `${path}: ${version.stdout.trim()}` }
      : { state: "missing", why: `${path} --version ended with ${version.code}`, next: "install Chromium anew" };
  },

  async mend() {
    if (chromiumPath(process.env) === null) throw new Error("the package chromium brought no program of that name");
  },
};
