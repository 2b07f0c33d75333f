import { problemLine } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { checkedLines } from "../../../test/fixtures/bundle-problems.ts";
import { type FolderTree, temporaryFolder, writeTree } from "../../../test/fixtures/folder.ts";
import { stepOf } from "../run/steps/step.ts";
import { BUILT_IN, type Registry } from "../types/registry.ts";
import { checkBundle } from "./check.ts";
import { parseBundle } from "./parse.ts";
import { resolveBundle } from "./resolve.ts";

/** A plugin's step that writes an artifact, one that uses one, and one that doesn't say what it does. */
const collect = stepOf({
  type: "collect",
  fields: z.object({ output_id: z.string() }),
  entityRefs: [{ path: "output_id", kind: "artifact", role: "output", types: ["file"] }],
});
const use = stepOf({
  type: "use",
  fields: z.object({ files: z.array(z.object({ id: z.string(), version: z.int().optional() })) }),
  entityRefs: [{ path: "files[].id", versionPath: "files[].version", kind: "artifact", types: ["file", "file_artifact_universe"] }],
});
const useImage = stepOf({
  type: "use_image",
  fields: z.object({ image_id: z.string() }),
  entityRefs: [{ path: "image_id", kind: "artifact", types: ["docker_image"] }],
});
const opaque = stepOf({ type: "opaque", fields: z.looseObject({}) });
const registry: Registry = { ...BUILT_IN, steps: [...BUILT_IN.steps, collect, use, useImage, opaque] };

const task = (...steps: object[]): FolderTree => ({ "artifacts/seed/x": "", "tasks/t.json": JSON.stringify(steps) });
const writes = (id: string, output_id: string) => ({ id, type: "collect", output_id });
const uses = (id: string, name: string, more: object = {}) => ({ id, type: "use", files: [{ id: name }], ...more });

describe("B5 what the steps of a task write", () => {
  const cases: [string, FolderTree, string[]][] = [
    ["may be used by the steps after, under its name or its id", task(writes("a", "shots"), uses("b", "shots"), uses("c", "shots")), []],
    [
      "isn't there for a step that doesn't run after",
      task(uses("a", "shots"), writes("b", "shots"), uses("c", "shots", { depends_on: ["a"] })),
      [
        `output tasks/t.json: step 'a': files[0].id: "shots" is written by step "b", and this step doesn't run after it: let it depend on "b"`,
        `output tasks/t.json: step 'c': files[0].id: "shots" is written by step "b", and this step doesn't run after it: let it depend on "b"`,
      ],
    ],
    [
      "has a name of its own",
      task(
        writes("a", "shots"),
        writes("b", "SHOTS"),
        writes("c", "Seed"),
        writes("d", "@local/x"),
        writes("e", "a//b"),
        writes("f", "x__y"),
      ),
      [
        `output tasks/t.json: step 'b': output_id: "SHOTS" is also an output of step "a": give one of them another name`,
        `output tasks/t.json: step 'c': output_id: "Seed" is also artifacts/seed of this bundle: give the output another name`,
        `output tasks/t.json: step 'd': output_id: "@local/x" can't be the name of an output: it is an id, and an output gets its task's id before its name`,
        `output tasks/t.json: step 'e': output_id: "a//b" can't be the name of an output: one of its parts between slashes is empty`,
        `output tasks/t.json: step 'f': output_id: "x__y" can't be the name of an output: "__" is kept for the ids of what is made along with an artifact`,
      ],
    ],
    [
      "can't be pinned, and has a kind and a type",
      task(
        writes("a", "shots"),
        { id: "b", type: "use", files: [{ id: "shots", version: 1 }] },
        { id: "c", type: "use_image", image_id: "shots" },
        {
          id: "d",
          type: "deploy_env",
          env_id: "shots",
        },
      ),
      [
        `pinned tasks/t.json: step 'b': files[0].id: "shots" is written by an earlier step of this task and has no fixed version: leave out the version`,
        `wrong-kind tasks/t.json: step 'c': image_id: "shots" is this task's artifact, written by step "a", and the field takes an artifact of type docker_image`,
        `wrong-kind tasks/t.json: step 'd': env_id: "shots" is this task's artifact, written by step "a", and the field takes an env`,
      ],
    ],
  ];
  test.each(cases)("%s", async (_name, tree, lines) => {
    expect(await checkedLines(tree, registry)).toEqual(lines);
  });

  /** What a check says about a bundle whose files are made from its id root. */
  async function linesOf(treeOf: (root: string) => FolderTree): Promise<string[]> {
    using folder = temporaryFolder();
    const root = `@local${folder.path}`;
    writeTree(folder.path, treeOf(root));
    const { problems } = await checkBundle(folder.path, { registry });
    return problems.map((problem) => `${problem.code} ${problemLine(problem)}`.replaceAll(root, "<root>"));
  }

  test("can't be named from elsewhere by its id", async () => {
    const other = (root: string) => JSON.stringify([uses("x", `${root}/t/shots`)]);
    expect(await linesOf((root) => ({ ...task(writes("a", "shots")), "tasks/other.json": other(root) }))).toEqual([
      "foreign-id tasks/other.json: step 'x': files[0].id: \"<root>/t/shots\" is what a step of tasks/t.json writes, and only that task's own steps can name it",
    ]);
  });

  test("has an id that no entry of the bundle writes", async () => {
    const twin = (root: string): FolderTree => ({ "artifacts/twin/x": "", "artifacts/twin/artifact.toml": `id = "${root}/t/shots"\n` });
    expect(await linesOf((root) => ({ ...task(writes("a", "shots")), ...twin(root) }))).toEqual([
      "two-writers tasks/t.json: step 'a': artifact <root>/t/shots is also written by artifacts/twin: rename one of the two",
    ]);
  });
});

test("names in a task become ids: of what its steps write, and of what the bundle writes", () => {
  const steps = [writes("a", "shots"), uses("b", "shots"), uses("c", "seed"), uses("d", "stored"), { id: "e", type: "opaque", note: "x" }];
  using folder = temporaryFolder(task(...steps));
  const { bundle } = parseBundle(folder.path);
  if (bundle === null) throw new Error("it is a bundle");
  const root = `@local${folder.path}`;
  const resolved = resolveBundle(bundle, registry).entries.flatMap((entry) => (entry.what === "task" ? entry.steps : []));
  expect(resolved).toEqual([
    writes("a", `${root}/t/shots`),
    uses("b", `${root}/t/shots`),
    uses("c", `${root}/seed`),
    uses("d", "stored"),
    { id: "e", type: "opaque", note: "x" },
  ]);
});

test("a step type that takes any field has no unknown ones", () => {
  expect(opaque.unknownFields({ id: "x", type: "opaque", what: 1 })).toEqual([]);
  expect(collect.unknownFields({ id: "x", type: "collect", what: 1 })).toEqual(["what"]);
});

test("B5 a step whose type declares no references may not name anything of the bundle or the task", async () => {
  const step = {
    id: "seed",
    type: "opaque",
    depends_on: ["a"],
    from_step_id: "seed",
    args: { deep: [{ what: "SEED", id: "seed" }] },
    note: "shots",
    free: "seeds",
  };
  expect(await checkedLines(task(writes("a", "shots"), step), registry)).toEqual([
    `undeclared-ref tasks/t.json: step 'seed': args.deep[0].what: "SEED" is the name of artifacts/seed, and the step type "opaque" doesn't declare what it references, so no id can take its place: write another text, or have the plugin declare entityRefs`,
    `undeclared-ref tasks/t.json: step 'seed': note: "shots" is the name of an output of step "a", and the step type "opaque" doesn't declare what it references, so no id can take its place: write another text, or have the plugin declare entityRefs`,
  ]);
});
