import { globSync } from "node:fs";
import { which } from "./command.ts";
import { canInstall, type Machine } from "./machine.ts";
import type { Found, Part, Tier } from "./part.ts";

/** An image registry of the distribution project, for the tests that pull base images from one. */
export const registry = program({
  name: "registry",
  helps: ["docker"],
  package: "docker-registry",
  find: () => which("docker-registry"),
});

/** PostgreSQL's own programs, for the tests of what the gateway reads from a database. */
export const postgres = program({
  name: "postgres",
  helps: ["integration"],
  package: "postgresql",
  find: () => globSync("/usr/lib/postgresql/*/bin/initdb").sort().at(-1) ?? null,
});

/** What sends the load of `bench -- gateway`: it takes little of the processor. */
export const wrk = program({ name: "wrk", helps: [], package: "wrk", find: () => which("wrk") });

/** What a gateway is compared with that only passes bytes on. */
export const nginx = program({ name: "nginx", helps: [], package: "nginx-light", find: () => which("nginx") });

/** A program of a Debian package, that only some tests of a tier start. `find` gives its path, or null. */
function program(what: { name: string; helps: readonly Tier[]; package: string; find(): string | null }): Part {
  const { name, helps, find } = what;
  return {
    name,
    tiers: [],
    helps,
    after: [],

    async look(machine: Machine): Promise<Found> {
      const path = find();
      if (path !== null) return { state: "ready", detail: path };
      return canInstall(machine)
        ? { state: "mendable", detail: "not installed", packages: [what.package] }
        : { state: "missing", why: `no ${what.package} here`, next: `install it (on Debian: apt-get install ${what.package})` };
    },

    async mend() {
      if (find() === null) throw new Error(`the package ${what.package} didn't bring what was looked for`);
    },
  };
}
