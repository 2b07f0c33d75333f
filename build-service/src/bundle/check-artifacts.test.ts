import { describe, expect, test } from "vitest";
import { checkedLines } from "../../../test/fixtures/bundle-problems.ts";
import { environmentName, server } from "../../../test/fixtures/env-folders.ts";
import type { FolderTree } from "../../../test/fixtures/folder.ts";
import { BUILT_IN } from "../types/registry.ts";
import type { ArtifactType } from "../types/type.ts";

describe("B5 refusals of artifacts", () => {
  const cases: [string, FolderTree, string[]][] = [
    [
      "files",
      {
        "artifacts/a/artifact.toml": 'type = "file"\n',
        "artifacts/a/x": "",
        "artifacts/a/y": "",
        "artifacts/b/empty/": "",
        "artifacts/c/artifact.toml": 'type = "file"\ndescription = 1\n',
      },
      [
        "no-files artifacts/b: has no file to write",
        "no-files artifacts/c: has no file to write",
        "one-file artifacts/a: holds one file, and has 2",
        "wrong-value artifacts/c: artifact.toml: description: expected a string, and found 1",
      ],
    ],
    [
      "environments",
      {
        "artifacts/a/artifact.toml": 'type = "environment"\nservice_name = "x"\n',
        "artifacts/a/x": "",
        "artifacts/b/artifact.toml": 'type = "environment"\nenvironment_name = "x"\nfile = "stored"\ndescription = "d"\n',
        "artifacts/b/x": "",
        "artifacts/c/artifact.toml": 'type = "environment"\nenvironment_name = ""\n',
      },
      [
        "environment artifacts/a: artifact.toml: environment_name: names no server: write the name of the one that the data is for",
        "environment artifacts/a: artifact.toml: service_name: is how the store calls it: write environment_name",
        "environment artifacts/b: artifact.toml: description: describes the folder's own file, and `file` names another: remove it",
        "environment artifacts/b: has a file of its own, and `file` names another: keep one of the two",
        "environment artifacts/c: artifact.toml: environment_name: names no server: write the name of the one that the data is for",
        "no-files artifacts/c: has no file to write",
      ],
    ],
    [
      "universes",
      {
        "artifacts/a/artifact.toml": 'type = "environment_universe"\n',
        "artifacts/a/top.json": "",
        "artifacts/a/crm/one": "",
        "artifacts/a/crm/two": "",
        "artifacts/a/Metadata/x/y": "",
        "artifacts/a/metadata/z": "",
        "artifacts/a/mail/": "",
        "artifacts/b/artifact.toml": 'type = "environment_universe"\n',
      },
      [
        "universe artifacts/a/Metadata: rename it to metadata: names are case-sensitive",
        "universe artifacts/a/crm: holds 2 files, and an environment has one",
        "universe artifacts/a/mail: holds no file, and an environment has one",
        "universe artifacts/a/metadata/z: lies in metadata/ itself: put it into metadata/<key>/",
        "universe artifacts/a/top.json: lies at the top: put it into a folder named for its server",
        "universe artifacts/b: holds no environment: add a folder with a file for each server, or list environment_artifacts",
      ],
    ],
    [
      "an image folder without its Dockerfile",
      { "artifacts/a/artifact.toml": 'type = "docker_image"\n' },
      ["image-file artifacts/a: there is no Dockerfile in this folder to build: an artifact of type docker_image needs one"],
    ],
    [
      "an image of a registry, with and without a Dockerfile",
      {
        "artifacts/a/artifact.toml": 'ref = "registry.example.com/crm:v1"\n',
        "artifacts/b/artifact.toml": 'type = "docker_image"\nref = "registry.example.com/crm:v1"\n',
        "artifacts/b/Dockerfile": "",
      },
      [
        "image-ref artifacts/a: artifact.toml: ref: an image of a registry isn't supported yet: build it from a Dockerfile in this folder",
        "image-ref artifacts/b: artifact.toml: ref: an image of a registry isn't supported yet: build it from a Dockerfile in this folder",
      ],
    ],
    [
      "a key of an image on an artifact that is none",
      {
        "artifacts/c/artifact.toml": 'type = "file"\nref = "registry.example.com/crm:v1"\n',
        "artifacts/c/x": "",
      },
      ['unknown-key artifacts/c: artifact.toml: unknown key "ref": file takes description, type, id'],
    ],
  ];
  test.each(cases)("%s", async (_name, tree, lines) => {
    expect(await checkedLines(tree)).toEqual(lines);
  });
});

test("B5 an id that two things would be written under is refused", async () => {
  const twice: ArtifactType = {
    kind: "artifact",
    type: "twice",
    tomlKeys: {},
    tomlRefs: [],
    accept: (_config, context) => context.accepted(),
    read: () => ({}),
    writes: "folder",
    childSuffixes: () => ["part", "part"],
    writeFolder: async () => ({}),
  };
  const registry = { ...BUILT_IN, types: [...BUILT_IN.types, twice] };
  expect(await checkedLines({ "artifacts/a/artifact.toml": 'type = "twice"\n', "artifacts/a/x": "" }, registry)).toEqual([
    "two-writers artifacts/a: artifact <root>/a__part is also written by artifacts/a: rename one of the two",
  ]);
});

describe("B5 files that can't be part of an image", () => {
  test("are refused, unless the image doesn't see them", async () => {
    const tree = {
      ...server("a", environmentName("a")),
      "envs/a/out": ["/etc/hostname"],
      "envs/a/sub/up": [".."],
      "envs/a/gone": ["nowhere"],
    } as const;
    expect(await checkedLines(tree)).toEqual([
      "link-up envs/a/sub/up: leads to a folder that holds it: remove the link",
      "outside envs/a/out: leads out of the bundle: put what it points to into the bundle",
      "special envs/a/gone: is a broken link: it isn't there",
    ]);
    expect(await checkedLines({ ...tree, "envs/a/.dockerignore": "out\nsub\ngone\n" })).toEqual([]);
    expect(await checkedLines({ ...tree, "envs/a/folder": ["/etc"], "envs/a/.dockerignore": "*\n!Dockerfile\n" })).toEqual([]);
  });

  test("an ignore file that holds no pattern is refused", async () => {
    expect(await checkedLines({ ...server("a", environmentName("a")), "envs/a/.dockerignore": "a[\n" })).toEqual([
      `bad-config envs/a/.dockerignore: holds a pattern that can't be one: "a[" is no pattern: a [ or a \\ in it isn't ended`,
    ]);
  });
});
