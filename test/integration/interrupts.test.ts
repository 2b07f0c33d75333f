import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentEnv, agentEnv, type Ended, NO_DOCKER, type Started } from "../fixtures/agent-env.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { pluginPackage, projectOf } from "../fixtures/plugins.ts";
import { until } from "../fixtures/until.ts";

/** What a shell's `$?` would be. */
const STATUS: Readonly<Record<string, number>> = { SIGINT: 130, SIGTERM: 143 };
const statusOf = ({ exitCode, signal }: Ended): number | null => (signal === null ? exitCode : (STATUS[signal] ?? null));

/** Sends the signal, and gives how it ended and after how many milliseconds. */
async function interrupted({ child, ended }: Started, signal: "SIGINT" | "SIGTERM"): Promise<{ status: number | null; ms: number }> {
  const since = performance.now();
  child.kill(signal);
  return { status: statusOf(await ended), ms: performance.now() - since };
}

async function within<T>(project: Parameters<typeof temporaryFolder>[0], use: (cli: AgentEnv, folder: string) => Promise<T>): Promise<T> {
  using folder = temporaryFolder(project);
  const cli = agentEnv(NO_DOCKER, folder.path);
  try {
    return await use(cli, folder.path);
  } finally {
    cli.remove();
  }
}

const ENTRY = { "bundle/artifacts/notes/a.txt": "a\n" };
const robots = (code: string, contributions: object = { envTypes: { robot: "robot.js" } }) => ({
  ...projectOf("robots"),
  ...pluginPackage("robots", contributions, { "robot.js": code }),
  ...ENTRY,
});

describe("B7 a signal ends a command", () => {
  const HANGS = [
    ["waits", 'console.error("loading"); await new Promise(() => setInterval(() => {}, 1000));\n'],
    ["computes", 'import { writeSync } from "node:fs"; writeSync(2, "loading"); for (;;);\n'],
  ] as const;
  test.each(
    HANGS.flatMap(([how, code]) => [
      [how, "bundle check", ["bundle", "check", "bundle"], code] as const,
      [how, "bundle plan", ["bundle", "plan", "bundle"], code] as const,
      [how, "artifact put", ["artifact", "put", "bundle/artifacts/notes", "--id", "notes"], code] as const,
    ]),
  )("while a plugin %s at its import: %s", async (_how, _words, argv, code) => {
    await within(robots(code), async (cli) => {
      for (const signal of ["SIGTERM", "SIGINT"] as const) {
        const started = cli.start(...argv);
        await started.seen("loading");
        const { status, ms } = await interrupted(started, signal);
        expect(status).toBe(STATUS[signal]);
        expect(ms).toBeLessThan(2000);
      }
      expect(existsSync(cli.stateDir)).toBe(false);
    });
  });

  test("of a plugin that never looks at its signal, and gives one that does the time it takes", async () => {
    const deaf = 'export default async ({ print }) => { print("ready"); await new Promise(() => setInterval(() => {}, 1000)); };\n';
    await within(robots(deaf, { commands: { wait: "robot.js" } }), async (cli) => {
      const started = cli.start("wait");
      await started.seen("ready");
      expect((await interrupted(started, "SIGTERM")).status).toBe(143);
    });
    const tidy =
      'export default async ({ print, signal }) => { const timer = setInterval(() => {}, 1000); const end = new Promise((resolve) => signal.addEventListener("abort", resolve)); print("ready"); await end; print("tidied"); clearInterval(timer); return 4; };\n';
    await within(robots(tidy, { commands: { wait: "robot.js" } }), async (cli) => {
      const started = cli.start("wait");
      await started.seen("ready");
      expect((await interrupted(started, "SIGTERM")).status).toBe(4);
      expect((await started.ended).out).toBe("ready\ntidied\n");
    });
  });
});

describe("B7 a signal ends a put of a large folder within two seconds, and nothing is half written", () => {
  const folder = temporaryFolder(robots('console.error("loaded");\nexport const robot = {};\n'));
  const put = ["artifact", "put", "many", "--id", "many"];
  beforeAll(() => {
    for (let index = 0; index < 20_000; index++) {
      const inside = join(folder.path, "many", String(index % 100));
      if (index < 100) mkdirSync(inside, { recursive: true });
      writeFileSync(join(inside, `${index}.txt`), `${index}\n`);
    }
  });
  afterAll(() => folder[Symbol.dispose]());

  test("while it walks the folder, and while it writes", async () => {
    const cli = agentEnv(NO_DOCKER, folder.path);
    try {
      const walking = cli.start(...put);
      // Next it walks the folder.
      await walking.seen("loaded");
      expect(await interrupted(walking, "SIGTERM")).toMatchObject({ status: 143, ms: expect.toSatisfy((ms) => ms < 2000) });
      expect(existsSync(cli.stateDir)).toBe(false);

      const writing = cli.start(...put);
      await until("the writing", 30_000, () => existsSync(join(cli.stateDir, "locks")));
      expect(await interrupted(writing, "SIGINT")).toMatchObject({ status: 130, ms: expect.toSatisfy((ms) => ms < 2000) });
      expect((await cli.run("artifact", "get", "many", "--out", "got")).err.split("\n").slice(-4).join("\n")).toBe(
        "many: no such artifact in the store\n  nothing has written it\n  Next: run the bundle that holds it, or put it: agent-env --help\n",
      );
    } finally {
      cli.remove();
    }
  });
});

describe("a command ends when it has said all", () => {
  test("though a plugin leaves a timer and a socket open", async () => {
    const open =
      'import { createServer } from "node:net"; setInterval(() => {}, 1000); createServer().listen(0, "127.0.0.1");\nexport const robot = {};\n';
    await within(robots(open), async (cli) => {
      const { exitCode, out } = await cli.run("bundle", "check", "bundle");
      expect({ exitCode, out }).toEqual({ exitCode: 0, out: "bundle: 1 entry, no problems\n" });
    });
  });

  test("and not before a slow reader has it", async () => {
    const much = 'export default ({ print }) => { print("x".repeat(4_000_000)); setInterval(() => {}, 1000); return 3; };\n';
    await within(robots(much, { commands: { much: "robot.js" } }), async (cli) => {
      const { exitCode, out } = await cli.run("much");
      expect({ exitCode, length: out.length }).toEqual({ exitCode: 3, length: 4_000_001 });
    });
  });
});
