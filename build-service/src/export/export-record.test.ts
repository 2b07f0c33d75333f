import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { AnyRecord, DockerImageRecord, lastSegment, UserError } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { EVERY_KIND } from "../../../test/fixtures/every-kind-bundle.ts";
import { temporaryFolder, writeTree } from "../../../test/fixtures/folder.ts";
import { changes, make, plan } from "../../../test/fixtures/make-bundle.ts";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { NEVER_ABORTED } from "../bundle/pauses.ts";
import { lookupHere } from "../put/bundle-here.ts";
import { putOf } from "../put/by-options.ts";
import { openContext } from "../put/context-folder.ts";
import { checkPut, writePut } from "../put/put-entity.ts";
import { putBlob } from "../store/blobs.ts";
import type { Store } from "../store/store.ts";
import { storedRecord } from "../store/stored.ts";
import { putNextVersion } from "../store/versions.ts";
import { BUILT_IN } from "../types/registry.ts";
import { type Exported, exportRecord } from "./export-record.ts";

type ExportKind = Parameters<typeof exportRecord>[0];

async function exported(store: Store, kind: ExportKind, id: string, folder: string, signal = NEVER_ABORTED): Promise<Exported> {
  return exportRecord(kind, await storedRecord(store, { kind, ids: [id], version: null }), folder, { store, registry: BUILT_IN, signal });
}

/** What a failed promise says, as a person sees it. */
async function refusal(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof UserError)) throw new Error(`not refused: ${String(error)}`);
  return `${error.message}\n${error.why}\n${error.next}`;
}

const FOLDERS = { env: "envs", agent: "agents", artifact: "artifacts" } as const;

test("an exported bundle plans as unchanged, each entry from its folder", async () => {
  using folder = temporaryFolder(EVERY_KIND);
  const store = memoryStore();
  const { plan: made } = await make({ folder: folder.path, store });
  using copy = temporaryFolder();
  const own = made.writes.filter(({ id, kind }) => kind !== "task" && kind !== "eval" && !lastSegment(id).includes("__"));
  for (const { kind, id, type } of own) {
    if (kind !== "env" && kind !== "agent" && kind !== "artifact") throw new Error(`${kind} isn't exported`);
    const into = type === "skill" ? "skills" : FOLDERS[kind];
    const { changed, left_out } = await exported(store, kind, id, join(copy.path, into, lastSegment(id)));
    expect({ id, changed, left_out }).toEqual({ id, changed: [], left_out: type === "skill" ? ["id: it has no toml"] : [] });
  }
  writeTree(copy.path, Object.fromEntries(Object.entries(EVERY_KIND).filter(([path]) => /^(tasks|evals)\//.test(path))));

  expect(own.map(({ kind, id }) => `${kind} ${lastSegment(id)}`).sort()).toEqual(
    ["all", "check", "own", "seed", "tool", "tree", "write-well"]
      .map((name) => `artifact ${name}`)
      .concat(["agent helper", "env items", "env mail", "env shop", "env suite"])
      .sort(),
  );
  // A skill takes its id from where it lies, and tasks and evals are not exported.
  const planned = changes(await plan({ folder: copy.path, store }));
  expect(planned).toEqual([
    "skills/write-well: v1 (new)",
    "tasks/easy.json: v1 (new)",
    "tasks/hard.json: v1 (new)",
    "evals/both.toml: v1 (new)",
  ]);
});

describe("an exported env", () => {
  const deploy = (env: string) => JSON.stringify([{ id: "up", type: "deploy_env", env_id: env }]);

  test("is a folder with its toml and what its image is built from", async () => {
    using folder = temporaryFolder(EVERY_KIND);
    const store = memoryStore();
    const { plan: made } = await make({ folder: folder.path, store });
    const out = join(folder.path, "out");
    const id = `${made.bundle.idRoot}/items`;
    expect(await exported(store, "env", id, out)).toEqual({ folder: out, id, version: 1, left_out: [], changed: [] });
    expect(readdirSync(out).sort()).toEqual([".dockerignore", "Dockerfile", "env.toml", "run.sh", "server.ts"]);
    expect(readFileSync(join(out, "env.toml"), "utf8")).toBe(
      `type = "mcp_server"\nid = ${JSON.stringify(id)}\nenvironment_name = "items"\nenv_provider_type = "gateway"\n\n[image]\ndockerfile = "Dockerfile"\n`,
    );
  });

  test("says that its image is built anew where its ignore file doesn't leave the toml out", async () => {
    using folder = temporaryFolder({ ...EVERY_KIND, "envs/items/.dockerignore": "# nothing\n", "tasks/items.json": deploy("items") });
    const store = memoryStore();
    const { plan: made } = await make({ folder: folder.path, store, selection: { tasks: ["items"], evals: [] } });
    using copy = temporaryFolder({ "tasks/items.json": deploy("items") });
    const found = await exported(store, "env", `${made.bundle.idRoot}/items`, join(copy.path, "envs/items"));
    expect(found.changed).toEqual(["image: files added: env.toml"]);
    expect(changes(await plan({ folder: copy.path, store }))[0]).toBe(
      `envs/items (Dockerfile image): v2 (last written by the bundle ${made.bundle.idRoot}; files added: env.toml)`,
    );
  });

  test("leaves out what a toml can't carry, and pins what a put pinned", async () => {
    using folder = temporaryFolder(EVERY_KIND);
    const store = memoryStore();
    const { plan: made } = await make({ folder: folder.path, store });
    const root = made.bundle.idRoot;
    const metadata = { agent_env_version: "9.9.9", team: "a" };
    const config = { mcp_server_envs: [{ env: "items", version: 1n }], website_envs: [] };
    const request = { kind: "env", type: "multi", id: `${root}/pair`, config, contexts: new Map(), platform: null, metadata } as const;
    const context = { store, registry: BUILT_IN, emit: () => {}, signal: new AbortController().signal, owner: "a test" };
    await writePut(await checkPut(putOf(request, BUILT_IN, lookupHere([folder.path])), context), context);
    const out = join(folder.path, "pair");
    expect((await exported(store, "env", `${root}/pair`, out)).left_out).toEqual(["metadata: agent_env_version, team"]);
    expect(readFileSync(join(out, "env.toml"), "utf8")).toContain(`[[mcp_server_envs]]\nenv = "${root}/items"\nversion = 1\n`);
  });
});

describe("an export that can't be is refused, and leaves nothing", () => {
  async function put(store: Store, folder: string, dockerfiles: Readonly<Record<string, string>>, type: string, id: string): Promise<void> {
    const contexts = new Map(
      Object.entries(dockerfiles).map(([key, dockerfile]) => [
        key,
        openContext({ dockerfile, context: undefined }, folder, { dockerfile: "--dockerfile", context: "--context" }),
      ]),
    );
    const request = { kind: "env", type, id, config: { environment_name: "x" }, contexts, platform: null, metadata: {} } as const;
    const context = { store, registry: BUILT_IN, emit: () => {}, signal: new AbortController().signal, owner: "a test" };
    await writePut(await checkPut(putOf(request, BUILT_IN, lookupHere([folder])), context), context);
  }

  test("two contexts that hold one path with other bytes", async () => {
    using folder = temporaryFolder({ "back/Dockerfile": "FROM a\n", "front/Dockerfile": "FROM b\n" });
    const store = memoryStore();
    await put(store, folder.path, { backend_image: "back/Dockerfile", frontend_image: "front/Dockerfile" }, "website", "site");
    expect(await refusal(exported(store, "env", "site", join(folder.path, "out")))).toBe(
      'site: can\'t be written as one folder\ntwo of its parts hold "Dockerfile", and not the same there\nget its parts one by one: agent-env artifact get ID --out FOLDER',
    );
    expect(readdirSync(folder.path).sort()).toEqual(["back", "front"]);
  });

  test("a context that holds the entry's own toml", async () => {
    using folder = temporaryFolder({ "items/Dockerfile": "FROM a\n", "items/env.toml": "" });
    const store = memoryStore();
    await put(store, folder.path, { image: "items/Dockerfile" }, "mcp_server", "items");
    expect(await refusal(exported(store, "env", "items", join(folder.path, "out")))).toBe(
      "items: can't be exported: the context of its image holds env.toml\nthe folder gets its own env.toml, which would be built into the image in its place\nname env.toml in the image's .dockerignore, write it anew, and export that version",
    );
    expect(readdirSync(folder.path)).toEqual(["items"]);
  });

  test("a folder that is there already", async () => {
    using folder = temporaryFolder({ "items/Dockerfile": "FROM a\n" });
    const store = memoryStore();
    await put(store, folder.path, { image: "items/Dockerfile" }, "mcp_server", "items");
    const out = join(folder.path, "out");
    mkdirSync(out);
    expect(await refusal(exported(store, "env", "items", out))).toBe(
      `--out: ${JSON.stringify(out)} is there already\nan export overwrites nothing\nname a folder that isn't there yet`,
    );
    expect(readdirSync(out)).toEqual([]);
  });

  test.each([
    ["a file above it", "items/Dockerfile/out", "ENOTDIR"],
    ["a broken link above it", "broken/out", "what lies above it takes none"],
    ["a name that is too long", "x".repeat(300), "its path is too long"],
  ])("a place where no folder can be made: %s", async (_name, path, reason) => {
    using folder = temporaryFolder({ "items/Dockerfile": "FROM a\n", broken: ["nowhere"] });
    const store = memoryStore();
    await put(store, folder.path, { image: "items/Dockerfile" }, "mcp_server", "items");
    const out = join(folder.path, path);
    expect(await refusal(exported(store, "env", "items", out))).toBe(
      `--out: ${JSON.stringify(out)} can't be made\nthe system makes no folder there: ${reason}\nname a folder in one that you can write to`,
    );
    expect(readdirSync(folder.path).sort()).toEqual(["broken", "items"]);
  });

  test("one that is interrupted leaves nothing", async () => {
    using folder = temporaryFolder({ "items/Dockerfile": "FROM a\n" });
    const store = memoryStore();
    await put(store, folder.path, { image: "items/Dockerfile" }, "mcp_server", "items");
    const reason = new Error("interrupted");
    await expect(exported(store, "env", "items", join(folder.path, "out"), AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(readdirSync(folder.path)).toEqual(["items"]);
  });

  test.each(["../away.txt", "/etc/away.txt", "a/../../away.txt"])("a record that names a file at %s", async (path) => {
    using folder = temporaryFolder();
    const store = memoryStore();
    const object_url = await putBlob(store, Buffer.from("x"));
    const file = { filename: "x", content_type: "text/plain", object_url, s3_url: object_url, sha256: "0", size: 1, description: "x" };
    await putNextVersion(store, "artifact", { id: "file", type: "file", ...file }, {});
    const refs = { file_artifact_refs: { [path]: { id: "file", version: 1 } }, file_artifact_ids: { [path]: "file" } };
    await putNextVersion(store, "artifact", { id: "tree", type: "file_artifact_universe", ...refs, bundle_object_url: null }, {});
    expect(await refusal(exported(store, "artifact", "tree", join(folder.path, "in/out")))).toBe(
      `tree: can't be written as one folder\nit holds a file at ${JSON.stringify(path)}, which leads out of a folder\nget its parts one by one: agent-env artifact get ID --out FOLDER`,
    );
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test("a context with a file below a link", async () => {
    using folder = temporaryFolder({ "away/": "", "items/Dockerfile": "FROM a\n", "items/data": ["../away"] });
    const store = memoryStore();
    await put(store, folder.path, { image: "items/Dockerfile" }, "mcp_server", "items");
    const image = DockerImageRecord.parse(await storedRecord(store, { kind: "artifact", ids: ["items__env_image"], version: null }));
    const { pack } = await import("tar-stream");
    const { buffer } = await import("node:stream/consumers");
    const tar = pack();
    tar.entry({ name: "Dockerfile" }, "FROM a\n");
    tar.entry({ name: "data", type: "symlink", linkname: "../away" });
    tar.entry({ name: "data/planted" }, "x");
    tar.finalize();
    const url = await putBlob(store, await buffer(tar));
    const { version: _version, ...fields } = image;
    await putNextVersion(store, "artifact", { ...fields, build_context_object_url: url, build_context_s3_url: url }, {});
    const env = AnyRecord.parse(await storedRecord(store, { kind: "env", ids: ["items"], version: null }));
    await putNextVersion(store, "env", { ...env, docker_image_artifact: { id: image.id, version: 2, type: "docker_image" } }, {});
    expect(await refusal(exported(store, "env", "items", join(folder.path, "out")))).toBe(
      'items: can\'t be written as one folder\nit holds "data/planted", and "data" is no folder\nget its parts one by one: agent-env artifact get ID --out FOLDER',
    );
    expect(readdirSync(join(folder.path, "away"))).toEqual([]);
    expect(readdirSync(folder.path).sort()).toEqual(["away", "items"]);
  });

  test("a type that no bundle has", async () => {
    using folder = temporaryFolder();
    const store = memoryStore();
    await putNextVersion(store, "env", { id: "default", type: "gateway_server" }, {});
    expect(await refusal(exported(store, "env", "default", join(folder.path, "out")))).toBe(
      "default: envs of type gateway_server can't be exported\nno bundle has entries of that type\nagent-env env show --help",
    );
  });
});
