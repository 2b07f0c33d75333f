import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** What a decision about setting up depends on. A value, so that decisions can be tested for other machines. */
export type Machine = {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly debian: boolean;
  readonly root: boolean;
  readonly dockerHost: string | null;
  /** Where what can be made again is kept: stand-ins' root file systems, the Python environment. */
  readonly cacheFolder: string;
};

/** The machine this runs on. */
export function thisMachine(env: NodeJS.ProcessEnv = process.env): Machine {
  return {
    platform: process.platform,
    arch: process.arch,
    debian: process.platform === "linux" && isDebian(readOsRelease()),
    root: process.getuid?.() === 0,
    dockerHost: env["DOCKER_HOST"] || null,
    cacheFolder: join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "agent-env"),
  };
}

/** Whether packages can be installed with apt here, and root file systems be made. */
export function canInstall(machine: Machine): boolean {
  return machine.debian && machine.root;
}

/** Whether an os-release file (os-release(5)) is Debian's own. Derivatives have other packages under the same names. */
export function isDebian(osRelease: string): boolean {
  return /^ID="?debian"?$/m.test(osRelease);
}

function readOsRelease(): string {
  try {
    return readFileSync("/etc/os-release", "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}
