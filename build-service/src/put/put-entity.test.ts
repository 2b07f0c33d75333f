import { AnyRecord, type Kind } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { EVERY_KIND } from "../../../test/fixtures/every-kind-bundle.ts";
import { temporaryFolder } from "../../../test/fixtures/folder.ts";
import { make } from "../../../test/fixtures/make-bundle.ts";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import type { Store } from "../store/store.ts";
import { latestVersion, readVersion } from "../store/versions.ts";
import { BUILT_IN } from "../types/registry.ts";
import { artifactFolder } from "./artifact-folder.ts";
import { lookupHere } from "./bundle-here.ts";
import { type PutRequest, putOf } from "./by-options.ts";
import { openContext } from "./context-folder.ts";
import { evalPut, evalTasks } from "./eval-file.ts";
import { checkPut, type PutEntity, writePut } from "./put-entity.ts";
import { taskFile } from "./task-file.ts";

const METADATA = { agent_env_version: "9.9.9" };

async function put(store: Store, entity: PutEntity) {
  const checked = await checkPut(entity, { store, registry: BUILT_IN });
  return writePut(checked, { store, registry: BUILT_IN, emit: () => {}, signal: new AbortController().signal, owner: "a test" });
}

async function latest(store: Store, kind: Kind, id: string): Promise<AnyRecord> {
  return AnyRecord.parse(await readVersion(store, kind, id, await latestVersion(store, kind, id)));
}

/** Puts what lies in a bundle's folder, under `id`. */
type Putting = (folder: string, id: string) => PutEntity;

const byOptions =
  (request: (folder: string) => Partial<PutRequest> & Pick<PutRequest, "kind" | "type">): Putting =>
  (folder, id) =>
    putOf({ config: {}, contexts: new Map(), platform: null, metadata: METADATA, id, ...request(folder) }, BUILT_IN, lookupHere([folder]));
const context = (folder: string, dockerfile: string) =>
  openContext({ dockerfile, context: undefined }, folder, { dockerfile: "--dockerfile", context: "--context" });
const artifact =
  (name: string): Putting =>
  (folder, id) =>
    artifactFolder({ folder: `artifacts/${name}`, id, cwd: folder }, BUILT_IN);
const task =
  (name: string): Putting =>
  (folder, id) =>
    taskFile({ file: `tasks/${name}.json`, id, cwd: folder }, BUILT_IN);
const evalFile: Putting = (folder, id) => evalPut({ tasks: evalTasks("both.json", folder), id, file: "both.json", cwd: folder });

/** By kind and name: the suffixes of what is written along with it, and the put. */
const PUTS: readonly (readonly [Kind, string, readonly string[], Putting])[] = [
  [
    "env",
    "items",
    ["env_image"],
    byOptions((folder) => ({ kind: "env", type: "mcp_server", contexts: new Map([["image", context(folder, "envs/items/Dockerfile")]]) })),
  ],
  [
    "env",
    "shop",
    ["backend_image", "frontend_image"],
    byOptions((folder) => ({
      kind: "env",
      type: "website",
      contexts: new Map(["backend", "frontend"].map((side) => [`${side}_image`, context(folder, `envs/shop/Dockerfile.${side}`)])),
    })),
  ],
  [
    "env",
    "suite",
    [],
    byOptions(() => ({
      kind: "env",
      type: "multi",
      config: { name: "both", mcp_server_envs: ["items", "mail"], website_envs: ["shop"] },
    })),
  ],
  [
    "agent",
    "helper",
    ["agent_image"],
    byOptions((folder) => ({
      kind: "agent",
      type: "a2a_agent",
      config: { default_env_vars: { LEVEL: "3" }, metadata: { default_model: "small", min_disk_size_gb: 2.5 } },
      contexts: new Map([["image", context(folder, "agents/helper/Dockerfile")]]),
    })),
  ],
  ["artifact", "check", [], artifact("check")],
  ["artifact", "tree", [], artifact("tree")],
  ["artifact", "seed", [], artifact("seed")],
  ["artifact", "own", ["file"], artifact("own")],
  ["artifact", "all", ["shop", "shop__file", "metadata__about"], artifact("all")],
  ["artifact", "tool", [], artifact("tool")],
  ["artifact", "write-well", ["files"], (folder, id) => artifactFolder({ folder: "skills/write-well", id, cwd: folder }, BUILT_IN)],
  ["task", "easy", [], task("easy")],
  ["task", "hard", [], task("hard")],
  ["eval", "both", [], evalFile],
];

describe("B6 a put of what lies in a bundle writes the record that the bundle writes, but for id and metadata", () => {
  test.each(PUTS)("%s %s", async (kind, name, suffixes, putting) => {
    using folder = temporaryFolder({ ...EVERY_KIND, "both.json": JSON.stringify([{ task_id: "easy" }, { task_id: "hard" }]) });
    const store = memoryStore();
    const { plan } = await make({ folder: folder.path, store });
    const own = `${plan.bundle.idRoot}/${name}`;
    const copied = `@local/elsewhere/${name}`;

    await put(store, putting(folder.path, copied));

    for (const suffix of ["", ...suffixes.map((text) => `__${text}`)]) {
      const of = suffix === "" ? kind : "artifact";
      const written = JSON.stringify(await latest(store, of, `${own}${suffix}`)).replaceAll(own, copied);
      const { image_name: tag, metadata, ...expected } = JSON.parse(written);
      const { image_name: copyTag, ...copy } = await latest(store, of, `${copied}${suffix}`);
      expect(copy).toEqual({ ...expected, ...(metadata === undefined ? {} : { metadata: { ...metadata, ...METADATA } }) });
      // The tag is named after the id; what it says of the source is the same.
      expect(sourceOf(copyTag)).toBe(sourceOf(tag));
    }
  });
});

describe("every put refuses an id of somewhere else, or the store's own form of one", () => {
  const REFUSED = [
    ["@other/thing", '"@other/thing" is no id: one opens with "@local/" or with no @ at all'],
    ["@other", '"@other" is no id: one opens with "@local/" or with no @ at all'],
    ["local/thing", '"local/thing" can\'t be an id: it looks like the store\'s own form of an id that starts with "@local/"'],
    [
      "local-thing-0123456789ab",
      '"local-thing-0123456789ab" can\'t be an id: it looks like the store\'s own form of an id that starts with "@local/"',
    ],
  ] as const;
  test.each(PUTS)("%s %s", async (_kind, _name, _suffixes, putting) => {
    using folder = temporaryFolder({ ...EVERY_KIND, "both.json": JSON.stringify([{ task_id: "easy" }, { task_id: "hard" }]) });
    const store = memoryStore();
    for (const [id, message] of REFUSED) {
      const { problems } = await checkPut(putting(folder.path, id), { store, registry: BUILT_IN });
      expect(problems.filter(({ code }) => code === "bad-id")).toEqual([{ code: "bad-id", path: "--id", message }]);
    }
  });
});

const sourceOf = (tag: unknown): string | undefined => (typeof tag === "string" ? tag.split(":")[1] : undefined);
