import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentEnv, NO_DOCKER } from "../fixtures/agent-env.ts";

const cantMount = process.platform === "linux" && process.getuid?.() === 0 ? false : "mounting a small disk needs root on Linux";

test.skipIf(cantMount)(`a disk that is full in the middle of the writes is one clear error, and a rerun goes on from there`, async () => {
  const disk = mkdtempSync(join(tmpdir(), "agent-env-disk-"));
  const mount = (size: string, ...more: string[]) =>
    expect(spawnSync("mount", ["-t", "tmpfs", "-o", [...more, `size=${size}`].join(","), "tmpfs", disk]).status).toBe(0);
  mount("700k");
  const stateDir = join(disk, "state");
  const cli = agentEnv({ ...NO_DOCKER, AGENT_ENV_STATE_DIR: stateDir });
  try {
    const full = await cli.run("run", "hello", "--sandbox", "process");
    expect(full.exitCode).toBe(1);
    expect(full.err).toBe(
      `${stateDir}: the store there failed 20 times\n  the disk is full: 0 MB are free\n  Next: free some space, then run the command again, which goes on from there\n`,
    );
    mount("64m", "remount");
    const again = await cli.run("run", "hello", "--sandbox", "process");
    expect(again.exitCode, again.out + again.err).toBe(0);
    expect(again.out).toContain("envs/greeter: v1, unchanged");
    expect(again.out).not.toMatch(/: v2/);
  } finally {
    spawnSync("umount", [disk]);
    cli.remove();
    rmSync(disk, { recursive: true, force: true });
  }
});
