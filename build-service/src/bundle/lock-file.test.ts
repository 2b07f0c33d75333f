import { describe, expect, test } from "vitest";
import { type FolderTree, temporaryFolder } from "../../../test/fixtures/folder.ts";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { checkBundle } from "./check.ts";
import { lockFileText, readLockFile } from "./lock-file.ts";
import { planBundle } from "./plan.ts";

const digest = (digit: string): string => `sha256:${digit.repeat(64)}`;

const BUNDLE: FolderTree = {
  "envs/items/Dockerfile": "FROM node:24-slim\n",
  "envs/items/env.toml": 'environment_name = "items"\n',
  "envs/other/Dockerfile": "FROM python:3.12 AS a\nFROM a\n",
  "envs/other/env.toml": 'environment_name = "other"\n',
  "tasks/items.json": JSON.stringify([{ id: "deploy", type: "deploy_env", env_id: "items" }]),
};

describe("agent-env.lock", () => {
  const refusals: [text: string, message: string][] = [
    ["[images", "is no valid TOML: "],
    ['[images]\n"a" = "b"\n[other]\n', 'holds "other", and only [images] counts: remove the rest'],
    ['images = "node"\n', 'images is "node", and takes a table: [images]'],
    [
      '[images]\n"node:24" = "sha256:1"\n',
      '[images] "node:24" is "sha256:1", and takes a digest, sha256:<64 hex digits>: agent-env run <bundle> --pull --lock writes it',
    ],
    [
      '[images]\n"node:24" = 1\n',
      '[images] "node:24" is 1, and takes a digest, sha256:<64 hex digits>: agent-env run <bundle> --pull --lock writes it',
    ],
  ];
  test.each(refusals)("%j is refused", async (text, message) => {
    using folder = temporaryFolder({ ...BUNDLE, "agent-env.lock": text });
    const { problems } = await checkBundle(folder.path);
    expect(problems).toEqual([{ code: "bad-config", path: "agent-env.lock", message: expect.stringContaining(message) }]);
  });

  test("a folder of that name, and another spelling of it, are refused", async () => {
    using folder = temporaryFolder({ ...BUNDLE, "agent-env.lock/": "" });
    expect((await checkBundle(folder.path)).problems).toMatchObject([{ code: "special", path: "agent-env.lock" }]);
    using misspelt = temporaryFolder({ ...BUNDLE, "Agent-Env.lock": "" });
    expect((await checkBundle(misspelt.path)).problems).toMatchObject([{ code: "misspelt", path: "Agent-Env.lock" }]);
  });

  test("what no Dockerfile of the bundle is based on is a warning, whatever is selected; what one is based on is none", async () => {
    const locked = new Map([
      ["python:3.12", digest("b")],
      ["node:24-slim", digest("a")],
      ["node:24", digest("c")],
    ]);
    using folder = temporaryFolder({ ...BUNDLE, "agent-env.lock": lockFileText(locked) });
    const warning = { path: "agent-env.lock", message: '[images] "node:24": no Dockerfile of this bundle is based on it' };
    const { bundle, problems, warnings } = await checkBundle(folder.path);
    expect({ problems, warnings, ignored: bundle?.ignored }).toEqual({ problems: [], warnings: [warning], ignored: [] });
    const { plan } = await planBundle({ folder: folder.path, selection: { tasks: [], evals: [] }, store: memoryStore() });
    expect(plan?.warnings).toEqual([warning]);
  });

  test("is written sorted, and reads as it was written", () => {
    const locked = new Map([
      ["b:1", digest("b")],
      ["a:1", digest("a")],
    ]);
    const text = lockFileText(locked);
    expect(text).toBe(
      `# Base images by digest. Written by agent-env run <bundle> --pull --lock.\n[images]\n"a:1" = "${digest("a")}"\n"b:1" = "${digest("b")}"\n`,
    );
    using folder = temporaryFolder({ lock: text });
    expect(readLockFile(`${folder.path}/lock`)).toEqual({ locked, problems: [] });
  });
});
