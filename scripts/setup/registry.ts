import { which } from "./command.ts";
import { canInstall, type Machine } from "./machine.ts";
import type { Found, Part } from "./part.ts";

const PROGRAM = "docker-registry";

/** An image registry of the distribution project, for the tests that pull base images from one. */
export const registry: Part = {
  name: "registry",
  tiers: [],
  helps: ["docker"],
  after: [],

  async look(machine: Machine): Promise<Found> {
    const path = which(PROGRAM);
    if (path !== null) return { state: "ready", detail: path };
    return canInstall(machine)
      ? { state: "mendable", detail: "not installed", packages: [PROGRAM] }
      : { state: "missing", why: `no ${PROGRAM} on PATH`, next: `install it (on Debian: apt-get install ${PROGRAM})` };
  },

  async mend() {
    if (which(PROGRAM) === null) throw new Error(`the package ${PROGRAM} brought no program of that name`);
  },
};
