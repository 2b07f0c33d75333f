import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { delimiter, dirname, join } from "node:path";
import fc from "fast-check";
import { extract } from "tar-stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { folderFiles } from "../../build-service/src/bundle/folder-files.ts";
import { ignoreRules } from "../../build-service/src/images/ignore.ts";
import { run } from "../../scripts/setup/command.ts";
import { temporaryFolder } from "../fixtures/folder.ts";

const noClient = (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, "docker")))
  ? undefined
  : "the docker command isn't on PATH";

/** Names that patterns may take for something else. */
const FILES = [
  "Dockerfile",
  "a.txt",
  "b.txt",
  "A.TXT",
  ".env",
  ".git/config",
  "a/a.txt",
  "a/b.txt",
  "a/.env",
  "a/b/a.txt",
  "a/b/c/deep.md",
  "b/a.txt",
  "b/keep/x.md",
  "b/keep/y.txt",
  "c++/x.cc",
  "f(1).txt",
  "g[1].txt",
  "h{1}.txt",
  "i|j.txt",
  "k+.txt",
  "l^.txt",
  "m$.txt",
  "n m/o p.txt",
  "star*.txt",
  "back\\slash.txt",
  "#hash",
  "!bang",
  "é.txt",
  "node_modules/x/y.js",
  "src/node_modules/z/y.js",
  "src/x/y.js",
  "x.go",
  "docs/x.go",
  "new\nline/a.txt",
]; // prettier-ignore

/** Ignore files that look alike and mean different things. */
const HARD = [
  "",
  "*",
  "**",
  "*\n!a",
  "*\n!a/b",
  "*\n!a/b/a.txt",

  "*/*",
  "*/**",
  "**/*.txt",
  "**/a.txt",
  "a/**",
  "a/**/a.txt",
  "a/**/*.md",
  "**/b",
  "**/b/**",
  "a",
  "a/",
  "/a",
  "/a/",
  "./a",
  "a/.",
  "a/../b",
  "a//b",
  "../a",
  "/",
  ".",
  "a\n!a/b\na/b/c",
  "a\n!a",
  "!a",
  "b\n!b/keep\nb/keep/y.txt",
  "#a.txt\nb.txt",
  " #a.txt",
  "\\#hash",
  "#hash",
  "\\!bang",
  "!bang",
  "*.txt\r\n!a.txt\r\n",
  "\ufeffa.txt",
  "\ufeff#c\na.txt",
  "  a.txt  ",
  "\ta.txt",
  "[a-b].txt",
  "[^a].txt",
  "[!a].txt",
  "[a-b]*",
  "g[[]1].txt",
  "g\\[1\\].txt",
  "?.txt",
  "??.txt",
  "a?b.txt",
  "*a*",
  "**a",
  "a**",
  "a**b",
  "**/*a*/**",
  "star\\*.txt",
  "star*.txt",
  "back\\\\slash.txt",
  "c++",
  "c++/",
  "f(1).txt",
  "f(*",
  "h{1}.txt",
  "{a,b}.txt",
  "i|j.txt",
  "k+.txt",
  "l^.txt",
  "m$.txt",
  "n m",
  "n m/o p.txt",
  "é.txt",
  "?.txt\n!é.txt",
  "Dockerfile",
  "Dockerfile*",
  "*\n!Dockerfile",
  ".dockerignore",
  ".*",
  "**/.*",
  ".env\n!a/.env",
  "node_modules",
  "**/node_modules",
  "**/node_modules/**",
  "*/node_modules",
  "src/**/y.js",
  "**/*.go\n!x.go",
  "!",
  "! a",
  "!  ",
  "a\n! a/b",
  "[",
  "[a-",
  "a[",
  "\\",
  "a.txt/",
  "a.txt/x",
  "A.txt",
  "a.TXT",
  "docs/*.go",
  "*/*.txt",
  "**/**/*.txt",
  "a/*/../b",
  "**/../a",
  "a\0b",
  "n**/a.txt",
  "new?line",
  "n*e/a.txt",
  "[*].txt",
  "[a?].txt",
  "[b**].txt",
  "a\\b",
  "\\w.txt",
  "[\\w].txt",
  "\\S\\W\\w\\Dt*",
  "\\_*",
  "\\a*",
  "\\é*",
  "l^*",
  "[a-*].txt",
]; // prettier-ignore

const word = fc.constantFrom(
  "a",
  "b",
  "a.txt",
  "*",
  "**",
  "?",
  "*.txt",
  "keep",
  "node_modules",
  "[a-c]*",
  "\\*",
  "x*",
  ".e*",
  "**.txt",
  ".",
  "..",
  "",
);
const pattern = fc
  .tuple(
    fc.constantFrom("", "", "!", "/", "!/", "  ", "#"),
    fc.array(word, { minLength: 1, maxLength: 4 }),
    fc.constantFrom("", "", "/", " "),
  )
  .map(([start, words, end]) => `${start}${words.join("/")}${end}`);
const ignoreFile = fc.array(pattern, { minLength: 1, maxLength: 5 }).map((lines) => lines.join("\n"));
const SEED = 20261130;

/**
 * What the docker command sends of a folder: the real client, talking to a server that only keeps what comes. It stands for an
 * Engine as far as a classic build's first request goes; it builds nothing.
 */
async function listeningEngine() {
  let sent: string[] = [];
  const server = createServer(async (request, response) => {
    response.setHeader("Api-Version", "1.41").setHeader("Content-Type", "application/json");
    if (request.url?.includes("/build")) {
      const entries = extract();
      request.pipe(entries);
      sent = [];
      for await (const entry of entries) {
        if (entry.header.type === "file") sent.push(entry.header.name);
        entry.resume();
      }
      return response.end(`${JSON.stringify({ aux: { ID: `sha256:${"0".repeat(64)}` } })}\n`);
    }
    request.resume();
    return response.end(
      request.url?.endsWith("/_ping") ? "OK" : JSON.stringify({ ApiVersion: "1.41", MinAPIVersion: "1.12", Os: "linux" }),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : null;
  return {
    /** Paths of the files that are sent, sorted; null where the client refuses the ignore file. */
    async sentFrom(folder: string): Promise<string[] | null> {
      const env = { ...process.env, DOCKER_HOST: `tcp://127.0.0.1:${port}`, DOCKER_BUILDKIT: "0" };
      const { code, stdout, stderr } = await run("docker", ["build", "-q", folder], { budgetSeconds: 30, env });
      if (code === 0) return sent.sort();
      if (!/pattern/i.test(stderr)) throw new Error(`${stdout}${stderr}`);
      return null;
    },
    close: () => server.close(),
  };
}

function ours(folder: string, text: string): string[] | null {
  try {
    const leaveOut = ignoreRules(text, ["Dockerfile", ".dockerignore"]);
    return folderFiles({ bundleDisk: folder, disk: folder, shown: "envs/x", leaveOut })
      .files.map(({ path }) => path)
      .sort();
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

describe.skipIf(noClient)("a build context holds what the docker command would send", () => {
  let engine: Awaited<ReturnType<typeof listeningEngine>>;
  beforeAll(async () => {
    engine = await listeningEngine();
  });
  afterAll(() => engine.close());

  async function both(text: string) {
    using folder = temporaryFolder();
    for (const file of FILES) {
      mkdirSync(dirname(join(folder.path, file)), { recursive: true });
      writeFileSync(join(folder.path, file), "");
    }
    writeFileSync(join(folder.path, ".dockerignore"), text);
    return { ours: ours(folder.path, text), theirs: await engine.sentFrom(folder.path) };
  }

  test("but for an exception that brings files of a folder back by a wildcard before its name, as BuildKit does", async () => {
    const found = await both("**\n!**/*.md");
    expect(found).toEqual({
      ours: [".dockerignore", "Dockerfile", "a/b/c/deep.md", "b/keep/x.md"],
      theirs: [".dockerignore", "Dockerfile"],
    });
  });

  test.each(HARD)("with the ignore file %j", async (text) => {
    const found = await both(text);
    expect(found.ours).toEqual(found.theirs);
  });

  test.each(fc.sample(ignoreFile, { numRuns: 60, seed: SEED }))(`with the ignore file %j, drawn with the seed ${SEED}`, async (text) => {
    const found = await both(text);
    expect(found.ours).toEqual(found.theirs);
  });
});
