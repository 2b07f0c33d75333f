import { lastLines, run } from "./command.ts";
import type { Say } from "./part.ts";

const BUDGET_SECONDS = 600;
const QUIET: NodeJS.ProcessEnv = { ...process.env, DEBIAN_FRONTEND: "noninteractive", NEEDRESTART_SUSPEND: "1" };

/**
 * Installs Debian packages, without what they only recommend. Needs root. A source that can't be reached spoils only the
 * packages that it has: what it says is told when the installation fails.
 */
export async function installPackages(packages: readonly string[], say: Say): Promise<void> {
  say(`installing ${packages.join(" ")}`);
  const update = await run("apt-get", ["update", "-qq"], { budgetSeconds: BUDGET_SECONDS, env: QUIET });
  const options = ["-y", "-qq", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=120"];
  const install = await run("apt-get", ["install", ...options, ...packages], { budgetSeconds: BUDGET_SECONDS, env: QUIET });
  if (install.code === 0) return;
  throw new Error(`apt-get install ended with ${install.code}: ${lastLines(`${update.stderr}\n${install.stderr}`, 8)}`);
}
