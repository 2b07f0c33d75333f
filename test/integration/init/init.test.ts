import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkBundle } from "../../../build-service/src/bundle/check.ts";
import { NEVER_ABORTED } from "../../../build-service/src/bundle/pauses.ts";
import { init } from "../../../build-service/src/init/init.ts";
import { INIT_KINDS, type InitKind } from "../../../build-service/src/init/kinds.ts";
import { BUILT_IN } from "../../../build-service/src/types/registry.ts";
import { temporaryFolder, writeTree } from "../../fixtures/folder.ts";
import { schemaErrors, schemaOf } from "../schemas/validate.ts";

const KINDS = Object.keys(INIT_KINDS) as InitKind[];
let place: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  place = temporaryFolder();
});
afterEach(() => place[Symbol.dispose]());

const make = (kind: InitKind, name: string, cwd = place.path) => init({ kind, name, cwd, registry: BUILT_IN, signal: NEVER_ABORTED });

/** All files below a folder, as paths. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

async function expectGood(bundle: string): Promise<void> {
  expect(await checkBundle(bundle)).toMatchObject({ problems: [], warnings: [] });
  for (const path of filesIn(bundle).filter((path) => schemaOf(path) !== undefined)) {
    const text = readFileSync(join(bundle, path), "utf8");
    expect(schemaErrors(path, text)).toEqual([]);
    const [, schema] = /^#:schema (.+)$/m.exec(text) ?? [];
    if (path.endsWith(".toml")) expect(existsSync(join(bundle, path, "..", schema ?? "no #:schema line"))).toBe(true);
  }
}

describe("B7 what init writes passes a check with nothing edited", () => {
  test.each(KINDS)("%s, as a bundle of its own", async (kind) => {
    const { bundle, isNewBundle, created } = await make(kind, "first");
    expect({ bundle, isNewBundle }).toEqual({ bundle: join(place.path, "first"), isNewBundle: true });
    expect(created).toContain("README.md");
    expect(filesIn(bundle).filter((path) => !path.startsWith(".agentenv/"))).toEqual([...created].sort());
    await expectGood(bundle);
  });

  test.each(KINDS.filter((kind) => kind !== "bundle"))("%s, in a bundle that has some of everything", async (kind) => {
    const { bundle } = await make("website", "blog");
    for (const other of KINDS.filter((one) => one !== "bundle")) await make(other, `a-${other}`, bundle);
    const before = new Map(filesIn(bundle).map((path) => [path, readFileSync(join(bundle, path), "utf8")]));
    const { isNewBundle, created } = await make(kind, "second", bundle);
    expect(isNewBundle).toBe(false);
    expect(created).not.toContain("README.md");
    expect(created.filter((path) => before.has(path))).toEqual([]);
    for (const [path, text] of before) expect(readFileSync(join(bundle, path), "utf8")).toBe(text);
    await expectGood(bundle);
  });

  test.each(["straße", "a b", "x(2)", "v1.0", "日本"])("a name that is legal in an id only: an artifact %j", async (name) => {
    await expectGood((await make("artifact", name)).bundle);
  });

  test("in a bundle's folder, however deep, it adds to that bundle", async () => {
    const { bundle } = await make("mcp-server", "todo");
    expect((await make("agent", "helper", join(bundle, "envs", "todo"))).bundle).toBe(bundle);
    expect((await make("skill", "pdf", join(bundle, "tasks"))).bundle).toBe(bundle);
    await expectGood(bundle);
  });

  test("in a folder that only has a kind folder's name, it makes a bundle of its own", async () => {
    const cwd = join(place.path, "agents", "mine");
    mkdirSync(cwd, { recursive: true });
    expect((await make("website", "blog", cwd)).bundle).toBe(join(cwd, "blog"));
  });
});

describe("B7 an init that a signal ends leaves nothing", () => {
  test("before the first file", async () => {
    const request = { kind: "website", name: "blog", cwd: place.path, registry: BUILT_IN } as const;
    await expect(init({ ...request, signal: AbortSignal.abort(new Error("stop")) })).rejects.toThrow("stop");
    expect(readdirSync(place.path)).toEqual([]);
  });

  test("while what it wrote is checked", async () => {
    const stop = new AbortController();
    const request = {
      kind: "website",
      name: "blog",
      cwd: place.path,
      registry: BUILT_IN,
      get signal() {
        queueMicrotask(() => stop.abort(new Error("stop")));
        return stop.signal;
      },
    } as const;
    await expect(init(request)).rejects.toThrow("stop");
    expect(readdirSync(place.path)).toEqual([]);
  });
});

describe("B7 init overwrites nothing", () => {
  test("a folder of that name", async () => {
    writeTree(place.path, { "blog/notes.txt": "mine" });
    await expect(make("website", "blog")).rejects.toMatchObject({ message: "blog: is there already", exitCode: 1 });
    expect(filesIn(place.path)).toEqual(["blog/notes.txt"]);
  });

  test("entries of a bundle, all of them named", async () => {
    const { bundle } = await make("website", "blog");
    const before = filesIn(bundle);
    writeFileSync(join(bundle, "envs", "blog", "server.ts"), "// mine\n");
    await expect(make("mcp-server", "blog", bundle)).rejects.toMatchObject({
      message: "artifacts/blog-seed, artifacts/blog-verifier, envs/blog, tasks/blog.json: are there already",
      why: "init overwrites nothing",
    });
    expect(filesIn(bundle)).toEqual(before);
    expect(readFileSync(join(bundle, "envs", "blog", "server.ts"), "utf8")).toBe("// mine\n");
  });
});

describe("B5 what init can't make is refused, and nothing stays", () => {
  test.each(["", ".", "..", "a/b", "../x", ".hidden", " a", "a:b", "a\nb"])("the name %j", async (name) => {
    await expect(make("website", name)).rejects.toMatchObject({
      message: `init website ${JSON.stringify(name)}: can't be a name`,
      next: "choose another: agent-env init website <name>",
      exitCode: 2,
    });
    expect(readdirSync(place.path)).toEqual([]);
  });

  test.each<[InitKind, string, string]>([
    ["skill", "Big Skill", "SKILL.md: name: expected 1 to 64 of a-z, 0-9 and -, without a - at an end and without two in a row"],
    ["artifact", "a__b", 'its name can\'t be part of an id: "__" is kept for the ids of what is made along with an artifact; rename it'],
    [
      "website",
      "gateway",
      '"gateway" is a name that the provider "gateway" gives its own containers (db-mcp, gateway, pgweb, servicedb, website-browser): choose another',
    ],
    [
      "website",
      "Über shop",
      "\"Über shop\" can't be a server's name: only A-Z, a-z, 0-9, '.', '_' and '-' may be in it, since it becomes a host name and part of a path",
    ],
    [
      "mcp-server",
      "my server",
      "\"my server\" can't be a server's name: only A-Z, a-z, 0-9, '.', '_' and '-' may be in it, since it becomes a host name and part of a path",
    ],
    [
      "multi",
      "x y",
      "\"x y-items\" can't be a server's name: only A-Z, a-z, 0-9, '.', '_' and '-' may be in it, since it becomes a host name and part of a path\n\"x y-site\" can't be a server's name: only A-Z, a-z, 0-9, '.', '_' and '-' may be in it, since it becomes a host name and part of a path\nname: \"x y\" can't be a multi's name: it must be a text without white space; leave it out to have one drawn at each deploy",
    ],
  ])("a %s named %j, as its check says", async (kind, name, why) => {
    const refusal = {
      message: `init ${kind} ${JSON.stringify(name)}: can't be a name`,
      why,
      next: `choose another: agent-env init ${kind} <name>`,
      exitCode: 2,
    };
    await expect(make(kind, name)).rejects.toMatchObject(refusal);
    expect(readdirSync(place.path)).toEqual([]);
    const { bundle } = await make("agent", "helper");
    const before = filesIn(bundle);
    await expect(make(kind, name, bundle)).rejects.toMatchObject(refusal);
    expect(filesIn(bundle)).toEqual(before);
    expect(readdirSync(bundle).sort()).toEqual([".agentenv", "README.md", "agents"]);
  });

  test("a bundle's own problems are no obstacle, and no business of what is new", async () => {
    const { bundle } = await make("website", "blog");
    writeTree(bundle, { "envs/broken/env.toml": 'type = "nope"\n' });
    expect((await make("agent", "helper", bundle)).created).toHaveLength(3);
    expect((await checkBundle(bundle)).problems.map(({ code }) => code)).toEqual(["unknown-type"]);
  });
});
