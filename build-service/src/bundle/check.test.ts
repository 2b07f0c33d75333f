import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkedLines } from "../../../test/fixtures/bundle-problems.ts";
import { multi, server } from "../../../test/fixtures/env-folders.ts";
import { temporaryFolder } from "../../../test/fixtures/folder.ts";
import { untouchableStore } from "../../../test/fixtures/memory-store.ts";
import { SUITE } from "../../../test/fixtures/suite-bundle.ts";
import { checkBundle } from "./check.ts";
import { planBundle } from "./plan.ts";

test("a whole bundle has no problems", async () => {
  expect(await checkedLines(SUITE)).toEqual([]);
});

describe("B7 a check", () => {
  test("opens no store: a plan that a check refuses never touches the one it is given", async () => {
    using folder = temporaryFolder({
      ...SUITE,
      ...server("z", "x = 1\n"),
      "tasks/z.json": '[{"id":"d","type":"deploy_env","env_id":"z"}]',
    });
    const { problems: checked } = await checkBundle(folder.path);
    const planned = await planBundle({ folder: folder.path, store: untouchableStore(), selection: { tasks: ["z"], evals: [] } });
    expect(checked.map(({ code }) => code)).toEqual(["no-card", "unknown-key"]);
    expect(planned).toEqual({ plan: null, problems: checked });
  });

  test("needs no place for a state folder", async () => {
    using folder = temporaryFolder(SUITE);
    const before = process.env["AGENT_ENV_STATE_DIR"];
    process.env["AGENT_ENV_STATE_DIR"] = "/dev/null/nowhere";
    try {
      expect((await checkBundle(folder.path)).problems).toEqual([]);
    } finally {
      if (before === undefined) delete process.env["AGENT_ENV_STATE_DIR"];
      else process.env["AGENT_ENV_STATE_DIR"] = before;
    }
  });

  test("changes no file and no time of the bundle, and reports its problems sorted", async () => {
    using folder = temporaryFolder({ ...SUITE, ...server("z", "x = 1\n"), ...multi("b", ""), "artifacts/a/empty/": "" });
    const before = snapshot(folder.path);
    const { problems } = await checkBundle(folder.path);
    expect(problems.map(({ path }) => path)).toEqual(["artifacts/a", "envs/b: env.toml", "envs/z: env.toml", "envs/z: env.toml"]);
    expect(snapshot(folder.path)).toEqual(before);
  });
});

function snapshot(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => `${path} ${statSync(join(folder, path)).mtimeMs}`)
    .sort();
}
