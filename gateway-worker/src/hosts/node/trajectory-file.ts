import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { TrajectoryCopy } from "../../core/seam.ts";

/**
 * The copy of the trajectory in a file that can be opened without asking the gateway. It is written anew at each start, so it
 * always is what `/trajectory` gives. Null without a path.
 */
export function trajectoryFile(path: string): TrajectoryCopy | null {
  if (path === "") return null;
  let isTroubled = false;
  const attempt = (write: () => void): void => {
    try {
      write();
      isTroubled = false;
    } catch (error) {
      if (!(error instanceof Error && "code" in error)) throw error;
      if (!isTroubled) process.stderr.write(`GATEWAY_TRAJECTORY_FILE ${JSON.stringify(path)}: ${error.message}\n`);
      isTroubled = true;
    }
  };
  return {
    begin: (lines) =>
      attempt(() => {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, "");
        for (const page of lines) appendFileSync(path, page);
      }),
    append: (lines) => attempt(() => appendFileSync(path, lines)),
  };
}
