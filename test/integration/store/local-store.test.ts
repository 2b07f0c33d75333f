import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openLocalStore } from "../../../build-service/src/store/local.ts";
import type { SingleStore } from "../../../build-service/src/store/store.ts";
import { createVersion, finishVersion, latestVersion, putNextVersion, readVersion } from "../../../build-service/src/store/versions.ts";
import { until } from "../../fixtures/until.ts";

let stateDir: string;
let store: SingleStore;
beforeAll(async () => {
  stateDir = mkdtempSync(join(tmpdir(), "agent-env-store-"));
  store = await openLocalStore(stateDir, "write");
});
afterAll(async () => {
  await store.close();
  rmSync(stateDir, { recursive: true });
});

const item = (version: number) => ({ id: "team/items", type: "mcp_server", version });

describe("objects", () => {
  test("an object is created once, and who comes second is told", async () => {
    expect(await store.objects.create("a/1", "one", { by: "first" })).toBe(true);
    expect(await store.objects.create("a/1", "two")).toBe(false);
    const found = await store.objects.get("a/1");
    expect(new TextDecoder().decode(found?.bytes)).toBe("one");
    expect(found?.metadata).toEqual({ by: "first" });
  });

  test("of 20 writers in two processes exactly one creates", async () => {
    const other = await openLocalStore(stateDir, "write");
    try {
      const writers = Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? store : other).objects.create("race/1", `writer ${n}`));
      expect((await Promise.all(writers)).filter((won) => won)).toHaveLength(1);
    } finally {
      await other.close();
    }
  });

  test("a swap holds only against what was read", async () => {
    await store.objects.put("swap", "1");
    const etag = (await store.objects.head("swap"))?.etag ?? "";
    expect(await store.objects.replace("swap", "2", etag)).toBe(true);
    expect(await store.objects.replace("swap", "3", etag)).toBe(false);
  });

  test("a list holds every key below its prefix, sorted, over more than one page", async () => {
    for (let first = 0; first < 1005; first += 15) {
      await Promise.all(Array.from({ length: 15 }, (_, n) => store.objects.put(`many/${String(first + n).padStart(4, "0")}`, "x")));
    }
    const keys = (await store.objects.list("many/")).map(({ key }) => key);
    expect(keys).toHaveLength(1005);
    expect(keys).toEqual([...keys].sort());
  });
});

describe("versions", () => {
  test("B8.4 a pointer that lags after a crash fools no reader", async () => {
    await createVersion(store, "env", item(1), {});
    await finishVersion(store, "env", item(1));
    await createVersion(store, "env", item(2), {});
    expect(await latestVersion(store, "env", "team/items")).toBe(2);
    expect(await readVersion(store, "env", "team/items", 2)).toEqual(item(2));
  });

  test("four writers of one id write four versions", async () => {
    await Promise.all(Array.from({ length: 4 }, () => putNextVersion(store, "artifact", { id: "team/file", type: "file" }, {})));
    expect(await latestVersion(store, "artifact", "team/file")).toBe(4);
  });

  test("an env's latest version is shown to the edge in KV", async () => {
    await putNextVersion(store, "env", { id: "team/edge", type: "mcp_server" }, {});
    expect(JSON.parse((await store.projections.get("env:team/edge")) ?? "")).toEqual({
      revision: 1,
      record: { id: "team/edge", type: "mcp_server", version: 1 },
    });
  });

  test("B5 an env of another type is refused under the same id, whoever writes it", async () => {
    await putNextVersion(store, "env", { id: "team/typed", type: "mcp_server" }, {});
    await expect(putNextVersion(store, "env", { id: "team/typed", type: "website" }, {})).rejects.toThrow(
      "team/typed: is an env of type mcp_server in the store, and this is a website",
    );
  });
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

function childrenOf(pid: number): string[] {
  return readdirSync("/proc").filter((entry) => /^\d+$/.test(entry) && parentOf(entry) === String(pid));
}

function parentOf(pid: string): string | undefined {
  return /^PPid:\s*(\d+)/m.exec(statusOf(pid))?.[1];
}

/** Ended, or a zombie that nobody has collected yet. */
function hasEnded(pid: string): boolean {
  return !/^State:\s*[^Z\s]/m.test(statusOf(pid));
}

/** Empty when the process is gone. */
function statusOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "";
  }
}
