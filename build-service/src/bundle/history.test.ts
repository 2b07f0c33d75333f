import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folder.ts";
import { make } from "../../../test/fixtures/make-bundle.ts";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { SUITE } from "../../../test/fixtures/suite-bundle.ts";
import { latestVersion, putNextVersion, readVersion } from "../store/versions.ts";
import { versionHistory } from "./history.ts";

const selection = { tasks: ["items"], evals: [] };

test("N7 the history of an id says who wrote each version, and why", async () => {
  using folder = temporaryFolder({ ...SUITE, "envs/items/run.sh": "#!/bin/sh\n" });
  const store = memoryStore();
  const { plan } = await make({ folder: folder.path, store, selection });
  const root = plan.bundle.idRoot;
  const id = `${root}/items`;
  writeFileSync(join(folder.path, "envs/items/more.ts"), "export {};\n");
  chmodSync(join(folder.path, "envs/items/run.sh"), 0o755);
  await make({ folder: folder.path, store, selection });
  const record = await readVersion(store, "env", id, await latestVersion(store, "env", id));
  await putNextVersion(store, "env", { ...record, id, type: "mcp_server" }, { "put-at": "2026-01-02T03:04:05.000Z" });
  rmSync(join(folder.path, "envs/items/more.ts"));
  await make({ folder: folder.path, store, selection });

  const said = async (kind: "env" | "artifact", of: string) =>
    (await versionHistory(store, kind, of)).map(({ version, bundle, reasons }) => [version, bundle, reasons]);
  const image = `${id}__env_image`;
  expect(await said("artifact", image)).toEqual([
    [1, root, ["new"]],
    [2, root, ["files added: more.ts", "files changed: run.sh (mode)"]],
    [3, root, ["files removed: more.ts"]],
  ]);
  expect(await said("env", id)).toEqual([
    [1, root, ["new"]],
    [2, root, [`artifact ${image} is written anew (v1 → v2)`]],
    [3, null, ["put"]],
    [4, root, ["the store's latest, v3, isn't in the ledger", `artifact ${image} is written anew (v2 → v3)`]],
  ]);
  const times = (await versionHistory(store, "env", id)).map(({ at }) => at);
  expect(times[2]).toBe("2026-01-02T03:04:05.000Z");
  expect(times.every((at) => at !== null && !Number.isNaN(Date.parse(at)))).toBe(true);
});
