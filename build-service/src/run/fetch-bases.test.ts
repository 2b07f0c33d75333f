import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type FolderTree, temporaryFolder } from "../../../test/fixtures/folder.ts";
import { plan } from "../../../test/fixtures/make-bundle.ts";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { lockFileText } from "../bundle/lock-file.ts";
import type { StageEvent } from "../report/events.ts";
import { setUpLines } from "./dry-run.ts";
import { basesToFetch, fetchBases } from "./fetch-bases.ts";

const DIGEST = (digit: string): string => `sha256:${digit.repeat(64)}`;
const FIXED = { "node:24-slim": DIGEST("1") };

/** `a` is deployed and `b` isn't; `node:24-slim` is fixed, and `ours` comes from no registry. */
const BUNDLE: FolderTree = {
  "envs/a/env.toml": 'environment_name = "a"\n',
  "envs/a/Dockerfile": "FROM nginx:stable AS pages\nFROM node:24-slim\nCOPY --from=pages /x /x\nCOPY --from=ours /y /y\n",
  "envs/b/env.toml": 'environment_name = "b"\n',
  "envs/b/Dockerfile": "FROM postgres:16\n",
  "tasks/t.json": JSON.stringify([{ id: "up", type: "deploy_env", env_id: "a" }]),
  "agent-env.lock": lockFileText(new Map(Object.entries(FIXED))),
};

async function planned(folder: string) {
  return plan({ folder, store: memoryStore(), platform: "linux/arm64" });
}

test("a dry run names the base images of what is deployed that --pull fetches, and with --lock those that are fixed too", async () => {
  using folder = temporaryFolder(BUNDLE);
  const made = await planned(folder.path);
  const lines = (lock: boolean) => setUpLines("it is not in the store", basesToFetch(made, { lock }));
  expect(lines(false)).toEqual([
    "the gateway: it is not in the store",
    "the base image nginx:stable: fetched, --pull",
    "the base image ours: fetched, --pull",
  ]);
  expect(lines(true)).toEqual([
    "the gateway: it is not in the store",
    "the base image nginx:stable: fetched, --pull",
    "the base image node:24-slim: fetched, --pull",
    "the base image ours: fetched, --pull",
  ]);
  expect(setUpLines(null, [])).toEqual([]);
});

/** Stands for an Engine that has fetched what it is asked for, but for `ours`, which comes from no registry. */
function fetching(lock: boolean) {
  const asked: string[] = [];
  const events: StageEvent[] = [];
  return {
    asked,
    events,
    request: {
      lock,
      emit: (event: StageEvent) => events.push(event),
      signal: new AbortController().signal,
      builder: {
        fetchBase: async (reference: string, { entry, platform }: { entry: string; platform: string | null }) => {
          asked.push(`${entry}: ${reference} for ${platform}`);
          return reference === "ours" ? null : DIGEST("2");
        },
      },
    },
  };
}

test("--pull fetches what isn't fixed, for the platform of what is built on it, and fixes nothing", async () => {
  using folder = temporaryFolder(BUNDLE);
  const made = await planned(folder.path);
  const { asked, events, request } = fetching(false);
  expect(await fetchBases(made, request)).toBe(made);
  expect(asked).toEqual(["envs/a (Dockerfile image): nginx:stable for linux/arm64", "envs/a (Dockerfile image): ours for linux/arm64"]);
  expect(events).toEqual([]);
  expect(readFileSync(join(folder.path, "agent-env.lock"), "utf8")).toBe(BUNDLE["agent-env.lock"]);
});

test("--pull --lock fetches all, and fixes each by what was served, but for one that comes from no registry", async () => {
  using folder = temporaryFolder(BUNDLE);
  const { asked, events, request } = fetching(true);
  const { bundle } = await fetchBases(await planned(folder.path), request);
  expect(asked).toHaveLength(3);
  const locked = new Map([
    ["nginx:stable", DIGEST("2")],
    ["node:24-slim", DIGEST("2")],
  ]);
  expect(bundle.locked).toEqual(locked);
  expect(readFileSync(join(folder.path, "agent-env.lock"), "utf8")).toBe(lockFileText(locked));
  expect(events).toEqual([{ kind: "log", level: "info", message: "agent-env.lock: 2 base images by digest" }]);
});
