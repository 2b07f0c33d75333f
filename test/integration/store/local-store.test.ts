import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openLocalStore } from "../../../build-service/src/store/local.ts";
import { childrenOf, hasEnded } from "../../fixtures/child-processes.ts";
import { until } from "../../fixtures/until.ts";

let stateDir: string;
let store: Awaited<ReturnType<typeof openLocalStore>>;
beforeAll(async () => {
  stateDir = mkdtempSync(join(tmpdir(), "agent-env-store-"));
  store = await openLocalStore(stateDir, "write");
});
afterAll(async () => {
  await store.close();
  rmSync(stateDir, { recursive: true });
});

test("reading a state folder that isn't there makes none", async () => {
  const missing = join(stateDir, "..", `${stateDir}-missing`);
  const empty = await openLocalStore(missing, "read");
  expect(await empty.objects.list("")).toEqual([]);
  await empty.close();
  expect(existsSync(missing)).toBe(false);
});

test.each([
  ["below a file", () => join(takenFile(), "state")],
  ["where the system makes no folders", () => "/proc/agent-env/state"],
])("a state folder that can't be made, %s, is one clear error with exit code 2", async (_, path) => {
  const error: unknown = await openLocalStore(path(), "write").catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: "UserError", exitCode: 2, next: "set AGENT_ENV_STATE_DIR to a folder that you can write" });
});

function takenFile(): string {
  const taken = join(stateDir, "file");
  writeFileSync(taken, "");
  return taken;
}

test.skipIf(process.platform !== "linux")("workerd ends with the process that opened the store, also when that is killed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "agent-env-killed-"));
  const opener = spawn(process.execPath, [fileURLToPath(new URL("../../fixtures/open-store.ts", import.meta.url)), folder]);
  await new Promise((resolve) => opener.stdout.once("data", resolve));
  const workerds = childrenOf(opener.pid ?? 0);
  expect(workerds.length).toBeGreaterThan(0);
  opener.kill("SIGKILL");
  await until("workerd ended", 5_000, () => workerds.every(hasEnded));
  rmSync(folder, { recursive: true });
});

test.skipIf(process.platform !== "linux")("a workerd that crashed is started again, and the store goes on", async () => {
  const folder = mkdtempSync(join(tmpdir(), "agent-env-crashed-"));
  const before = new Set(childrenOf(process.pid));
  const crashing = await openLocalStore(folder, "write");
  await crashing.objects.put("a", "1");
  for (const pid of childrenOf(process.pid)) if (!before.has(pid)) process.kill(Number(pid), "SIGKILL");
  await crashing.objects.put("a", "2");
  await crashing.projections.put("b", "3");
  expect(Buffer.from((await crashing.objects.get("a"))?.bytes ?? []).toString()).toBe("2");
  expect(await crashing.projections.get("b")).toBe("3");
  await crashing.close();
  rmSync(folder, { recursive: true });
});

test.skipIf(process.platform !== "linux")(
  "B8.5 a first write waits while another process holds the store's files",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "agent-env-held-"));
    const first = await openLocalStore(folder, "write");
    await first.objects.put("a", "1");
    await first.close();
    const holder = new DatabaseSync(join(folder, "v3/r2/miniflare-R2BucketObject/metadata.sqlite"));
    holder.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; CREATE TABLE held (x); DROP TABLE held; COMMIT;");

    const second = await openLocalStore(folder, "write");
    const before = new Set(childrenOf(process.pid));
    const started = new Set<string>();
    const writing = second.objects.put("a", "2");
    await until("workerd tried again", 30_000, () => {
      for (const pid of childrenOf(process.pid)) if (!before.has(pid)) started.add(pid);
      return started.size > 1;
    });
    holder.close();
    await writing;
    expect(Buffer.from((await second.objects.get("a"))?.bytes ?? []).toString()).toBe("2");
    await second.close();
    rmSync(folder, { recursive: true });
  },
  60_000,
);
