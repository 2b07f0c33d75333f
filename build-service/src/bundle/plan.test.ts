import { describe, expect, test } from "vitest";
import { plannedLines } from "../../../test/fixtures/bundle-problems.ts";
import { temporaryFolder } from "../../../test/fixtures/folder.ts";
import { changes, lines, make, plan } from "../../../test/fixtures/make-bundle.ts";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { SUITE, SUITE_SELECTION } from "../../../test/fixtures/suite-bundle.ts";
import { singleStore } from "../store/sides.ts";
import { putNextVersion } from "../store/versions.ts";
import { BUILT_IN } from "../types/registry.ts";
import { planBundle } from "./plan.ts";

test("B1.3, B2.1, B2.2 the ids and the Dockerfiles of built images", async () => {
  using folder = temporaryFolder({
    ...SUITE,
    "envs/items/env.toml": 'image = { dockerfile = "docker/Dockerfile" }\n',
    "envs/items/docker/Dockerfile": "FROM base\n",
  });
  const { writes, bundle } = await plan({ folder: folder.path, store: memoryStore() });
  const images = writes.flatMap(({ id, entry, source }) =>
    source === undefined ? [] : [[id.replace(bundle.idRoot, "<root>"), entry, source.dockerfile]],
  );
  expect(images).toEqual([
    ["<root>/items__env_image", "envs/items (docker/Dockerfile image)", "docker/Dockerfile"],
    ["<root>/shop__backend_image", "envs/shop (Dockerfile.backend image)", "Dockerfile.backend"],
    ["<root>/shop__frontend_image", "envs/shop (Dockerfile.frontend image)", "Dockerfile.frontend"],
  ]);
  expect(Object.keys(writes[0]?.source?.files ?? {})).toEqual(["Dockerfile", "docker/Dockerfile", "env.toml", "server.ts"]);
});

describe("B8.3 a plan", () => {
  test("says all that will be written, in the order of making", async () => {
    using folder = temporaryFolder(SUITE);
    const planned = await plan({ folder: folder.path, store: memoryStore() });
    expect(lines(planned)).toEqual([
      "envs/items (Dockerfile image): v1 (new)",
      "envs/items: v1 (new)",
      "envs/shop (Dockerfile.backend image): v1 (new)",
      "envs/shop (Dockerfile.frontend image): v1 (new)",
      "envs/shop: v1 (new)",
      "envs/suite: v1 (new)",
      "artifacts/check: v1 (new)",
      "artifacts/seed: v1 (new)",
      "tasks/all.json: v1 (new)",
      "evals/everything.toml: v1 (new)",
    ]);
    expect(planned.leftOut).toEqual(["tasks/items.json"]);
    expect(planned.evals.map(({ name, tasks }) => [name, tasks])).toEqual([["everything", [planned.tasks[0]?.id]]]);
    expect(planned.filenameOf(`${planned.bundle.idRoot}/check`)).toBe("check.ts");
    expect(planned.versionOf("env", `${planned.bundle.idRoot}/suite`)).toBe(1);
    expect(() => planned.versionOf("env", "nobody")).toThrow("the plan neither writes nor references env nobody");
  });

  test("writes nothing and takes no lock", async () => {
    using folder = temporaryFolder(SUITE);
    const store = memoryStore();
    const lock = () => Promise.reject(new Error("a plan took a lock"));
    await plan({ folder: folder.path, store: singleStore({ ...store.local, lock }, store.close) });
    expect(store.writes).toEqual([]);
  });

  test("predicts what is then made, and shows everything unchanged afterwards", async () => {
    using folder = temporaryFolder(SUITE);
    const store = memoryStore();
    const planned = await plan({ folder: folder.path, store, selection: SUITE_SELECTION });
    const { plan: made, events } = await make({ folder: folder.path, store, selection: SUITE_SELECTION });
    expect(lines(made)).toEqual(lines(planned));
    expect(events.map((event) => (event.kind === "write" ? `${event.entry}: ${event.message}` : event.kind))).toEqual(lines(made));
    const writes = store.writes.length;
    expect(changes((await make({ folder: folder.path, store, selection: SUITE_SELECTION })).plan)).toEqual([]);
    expect(store.writes.length).toBe(writes);
  });
});

describe("what a run is about", () => {
  test.each([
    [{ tasks: ["items"], evals: [] }, ["envs/items", "tasks/items.json"]],
    [
      { tasks: [], evals: ["everything"] },
      ["envs/items", "envs/shop", "envs/suite", "artifacts/check", "artifacts/seed", "tasks/all.json", "evals/everything.toml"],
    ],
  ])("%j reaches only what it needs", async (selection, entries) => {
    using folder = temporaryFolder({ ...SUITE, "envs/broken/env.toml": "x = 1\n" });
    const planned = await plan({ folder: folder.path, store: memoryStore(), selection });
    expect(planned.writes.map(({ entry }) => entry).filter((entry) => !entry.includes("image)"))).toEqual(entries);
  });

  test("a name that isn't there is refused, with the near one", async () => {
    expect(await plannedLines(SUITE, null, { tasks: ["Items", "none"], evals: ["all"] })).toEqual([
      "no-selection --eval 'all': is not in this bundle: there are \"everything\"",
      "no-selection --task 'Items': is not in this bundle, but \"items\" is: names are case-sensitive",
      'no-selection --task \'none\': is not in this bundle: there are "all" and "items"',
    ]);
  });

  test("a bundle without tasks and evals passes a check, and can't be run", async () => {
    expect(await plannedLines({ "artifacts/a/x": "" }, null)).toEqual([
      "nothing-to-run <bundle>: has no task and no eval to run: add tasks/<name>.json; `agent-env bundle check` checks a bundle without any",
    ]);
  });

  test("an eval of a store task is refused with the command that runs it", async () => {
    const store = memoryStore();
    await putNextVersion(store, "task", { id: "nightly", type: "task", steps: [] }, {});
    expect(await plannedLines({ "evals/e.toml": 'tasks = ["nightly"]\n' }, store)).toEqual([
      "eval-store-task evals/e.toml: tasks[0]: \"nightly\" is a task of the store, and a bundle's evals run the bundle's own: name one of those, or leave it out",
    ]);
  });
});

describe("B2.1 images of a plugin's type", () => {
  test("any key that is declared as an image follows the one rule", async () => {
    const [mcpServer] = BUILT_IN.types;
    if (mcpServer?.kind !== "env" || mcpServer.writes !== "record") throw new Error("the first type is the MCP server's");
    const robot = {
      ...mcpServer,
      type: "robot",
      tomlKeys: { ...mcpServer.tomlKeys, arm_image: "ref" as const },
      tomlRefs: [...mcpServer.tomlRefs, { path: "arm_image", kind: "artifact" as const, types: ["docker_image"] }],
    };
    const gateway = { name: "gateway", types: ["robot"], reservesNames: true, oneCard: false, refusesOptions: [] };
    using folder = temporaryFolder({
      "envs/r/env.toml": 'type = "robot"\nenvironment_name = "r"\n',
      "envs/r/Dockerfile": "",
      "envs/r/Dockerfile.arm": "",
      "tasks/t.json": '[{"id":"deploy","type":"deploy_env","env_id":"r"}]',
    });
    const { plan: planned, problems } = await planBundle({
      folder: folder.path,
      store: null,
      selection: { tasks: [], evals: [] },
      registry: { ...BUILT_IN, types: [...BUILT_IN.types, robot], envProviders: { gateway } },
    });
    expect(problems).toEqual([]);
    const root = planned?.bundle.idRoot ?? "";
    expect(planned?.writes.map(({ entry, id }) => `${entry} ${id.replace(root, "<root>")}`)).toEqual([
      "envs/r (Dockerfile image) <root>/r__env_image",
      "envs/r (Dockerfile.arm image) <root>/r__arm_image",
      "envs/r <root>/r",
      "tasks/t.json <root>/t",
    ]);
  });
});
