import { DeploymentRecord } from "@agent-env/protocol";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folder.ts";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { NO_PLUGINS } from "../plugins/installed.ts";
import { NO_PRESETS, sandboxesOf } from "../providers/sandbox/sandboxes.ts";
import { removeLeftovers, survey } from "./gc.ts";
import { drawKey, drawnKeys } from "./keys.ts";
import { START_ALLOWANCE_S } from "./labels.ts";
import { closeRecord, createRecord } from "./record.ts";

const plugins = { ...NO_PLUGINS, sandboxes: sandboxesOf([], NO_PRESETS, () => "") };
const record = (id: string, owner: string | null): DeploymentRecord => ({
  ...DeploymentRecord.parse({ deployment_id: id, name: "env1234", auth: { mode: "open" }, servers: [] }),
  owner,
});

test("N8 a private key is left over once its deployment has ended, or never came to be", async () => {
  using folder = temporaryFolder();
  const store = memoryStore();
  const context = { store, stateDir: folder.path, emit: () => {}, plugins };
  for (const id of ["up-1", "killed-1", "stopped-1", "never-1"]) await drawKey(folder.path, id);
  for (const [id, owner] of [
    ["up-1", null],
    ["killed-1", "run-gone"],
    ["stopped-1", null],
  ] as const)
    await createRecord(store, record(id, owner));
  await closeRecord(store, "stopped-1");

  const keys = async (now: Date) => (await survey(context, now)).keys.map(({ kind, name, reason }) => `${kind} ${name}: ${reason}`).sort();
  const left = ["key killed-1: its run run-gone has ended", "key stopped-1: its deployment was stopped"];
  // One that was drawn just now may belong to a start that has nothing on the machine yet.
  const now = new Date();
  expect(await keys(now)).toEqual(left);
  const later = new Date(now.getTime() + START_ALLOWANCE_S * 1000);
  expect(await keys(later)).toEqual([...left.slice(0, 1), "key never-1: it has no deployment", ...left.slice(1)]);

  const surveyed = await survey(context, later);
  expect(await removeLeftovers([...surveyed.found, ...surveyed.keys], context)).toEqual([]);
  expect((await drawnKeys(folder.path)).map(({ deploymentId }) => deploymentId)).toEqual(["up-1"]);
});
