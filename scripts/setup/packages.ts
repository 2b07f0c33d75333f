import { mustRun } from "./command.ts";
import type { Say } from "./part.ts";

const BUDGET_SECONDS = 600;
const QUIET: NodeJS.ProcessEnv = { ...process.env, DEBIAN_FRONTEND: "noninteractive", NEEDRESTART_SUSPEND: "1" };

/** Installs Debian packages, without what they only recommend. `needs root`. */
export async function installPackages(packages: readonly string[], say: Say): Promise<void> {
  say(`installing ${packages.join(" ")}`);
  await mustRun("apt-get", ["update", "-qq"], { budgetSeconds: BUDGET_SECONDS, env: QUIET });
  await mustRun("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=120", ...packages], {
    budgetSeconds: BUDGET_SECONDS,
    env: QUIET,
  });
}
