import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type CommandResult, run } from "../../scripts/setup/command.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { shellEnvironment } from "../fixtures/packages.ts";

const CHECKOUT = join(import.meta.dirname, "../..");
const script = (path: string, args: readonly string[] = [], env: Record<string, string> = {}): Promise<CommandResult> =>
  run(process.execPath, [join(CHECKOUT, path), ...args], { budgetSeconds: 60, env: { ...process.env, ...env } });
const lastLine = (text: string) => text.trimEnd().split("\n").at(-1);

describe("npm run setup", () => {
  test("--look says what is missing and how to get it, and ends with 2", async () => {
    const ended = await script("scripts/setup.ts", ["--look", "--tier", "docker"], { DOCKER_HOST: "unix:///nonexistent/docker.sock" });
    expect(ended.code).toBe(2);
    expect(ended.stdout).toMatch(/^engine +missing +DOCKER_HOST is "unix:\/\/\/nonexistent\/docker\.sock": connect ENOENT/m);
    expect(ended.stdout).toContain("Next: start that Engine, or unset DOCKER_HOST");
  });

  test("needs nothing for a tier that needs nothing", async () => {
    expect(await script("scripts/setup.ts", ["--tier", "unit"])).toMatchObject({ code: 0 });
  });

  test("names a tier that there isn't", async () => {
    const ended = await script("scripts/setup.ts", ["--tier", "dockr"]);
    expect(ended).toMatchObject({ code: 2, stdout: expect.stringMatching(/^--tier: no tier "dockr"\n/) });
  });
});

describe("npm run proof", () => {
  test("lists every requirement and prints the count last", async () => {
    const { code, stdout } = await script("scripts/proof.ts");
    expect(code).toBe(0);
    expect(lastLine(stdout)).toMatch(/^\d+ of 75 requirements are named by a test, \d+ by none$/);
  });

  test("--json has the same as data", async () => {
    const { stdout } = await script("scripts/proof.ts", ["--json", "--only", "B3"]);
    const { requirements } = JSON.parse(stdout);
    expect(requirements.map(({ id }: { id: string }) => id)).toEqual(["B3.1", "B3.2", "B3.3"]);
  });
});

describe("npm run bench", () => {
  test("without a name lists the benches and ends with 2", async () => {
    const ended = await script("bench/main.ts");
    expect(ended).toMatchObject({ code: 2, stdout: expect.stringContaining("  dry-run ") });
  });

  test("names a bench that there isn't", async () => {
    const ended = await script("bench/main.ts", ["biuld"]);
    expect(ended).toMatchObject({ code: 2, stdout: expect.stringMatching(/^no bench "biuld"\n/) });
  });
});

test("npm pack in a workspace is refused, and says what to do instead", async () => {
  const ended = await run("npm", ["pack", "--dry-run"], { budgetSeconds: 60, cwd: join(CHECKOUT, "shared") });
  expect(ended.code).not.toBe(0);
  expect(ended.stderr).toContain("Next: npm run pack -- --out DIR");
});

describe(".ci/run", () => {
  /** A checkout that has nothing to install, and whose tests print and end as given. */
  async function runIn(testAll: string): Promise<CommandResult> {
    using folder = temporaryFolder();
    mkdirSync(join(folder.path, ".ci"));
    cpSync(join(CHECKOUT, ".ci/run"), join(folder.path, ".ci/run"));
    writeFileSync(join(folder.path, "package.json"), JSON.stringify({ name: "a", version: "1.0.0", scripts: { "test:all": testAll } }));
    writeFileSync(
      join(folder.path, "package-lock.json"),
      JSON.stringify({ name: "a", version: "1.0.0", lockfileVersion: 3, packages: { "": { name: "a", version: "1.0.0" } } }),
    );
    return await run("bash", [join(folder.path, ".ci/run")], { budgetSeconds: 60, cwd: "/", env: shellEnvironment({}) });
  }

  test("prints the totals last", async () => {
    const ended = await runIn("echo '12 passed, 0 failed, 3 skipped'");
    expect(ended.code).toBe(0);
    expect(lastLine(ended.stdout)).toBe("12 passed, 0 failed, 3 skipped");
  });

  test("also when npm says more after a failure, whose exit code it passes on", async () => {
    const ended = await runIn("echo '12 passed, 1 failed' && exit 7");
    expect(ended.code).toBe(7);
    expect(lastLine(ended.stdout)).toBe("12 passed, 1 failed");
  });

  test("counts a run without totals as failed", async () => {
    const ended = await runIn("echo nothing");
    expect(ended.code).toBe(1);
    expect(lastLine(ended.stdout)).toBe("0 passed, 1 failed");
  });
});
