import { execFileSync } from "node:child_process";
import { truncateSync } from "node:fs";
import { deploying, loading, multi, NOTHING_TO_RUN, named, type Refusal, seed, server, site, verifying } from "./refusal.ts";

const environment = (name: string, more = ""): string => `type = "environment"\nenvironment_name = "${name}"\n${more}`;
const universe = (more = ""): string => `type = "environment_universe"\n${more}`;

/** Files and folders that can't be part of an image or an artifact (4-bundle §5). */
export const CHECK_FILES: readonly Refusal[] = [
  {
    name: "files that are larger than a store takes",
    tree: {
      ...server("a"),
      "envs/a/main.py": "",
      "envs/a/model.bin": "",
      "envs/a/small.bin": "",
      "artifacts/v/v.py": "",
      ...verifying("a", "v"),
    },
    prepare(folder) {
      for (const path of ["envs/a/main.py", "envs/a/model.bin", "artifacts/v/v.py"]) truncateSync(`${folder}/${path}`, 2 ** 31);
      truncateSync(`${folder}/envs/a/small.bin`, 2 ** 20);
    },
    lines: [
      "too-large artifacts/v/v.py: has 2147483648 bytes, and a store takes files of at most 2147483647: take it out of the folder, or out of an image's context by .dockerignore",
      "too-large envs/a/main.py: has 2147483648 bytes, and a store takes files of at most 2147483647: take it out of the folder, or out of an image's context by .dockerignore",
      "too-large envs/a/model.bin: has 2147483648 bytes, and a store takes files of at most 2147483647: take it out of the folder, or out of an image's context by .dockerignore",
    ],
  },
  {
    name: "links that lead out of the bundle, up, and nowhere",
    tree: {
      ...server("a"),
      "envs/a/out": ["/etc/hostname"],
      "envs/a/away": ["/etc"],
      "envs/a/sub/up": [".."],
      "envs/a/gone": ["nowhere"],
      ...deploying("a"),
    },
    lines: [
      "outside envs/a/away: leads out of the bundle: put what it points to into the bundle",
      "special envs/a/gone: is a broken link: it isn't there",
      "outside envs/a/out: leads out of the bundle: put what it points to into the bundle",
      "link-up envs/a/sub/up: leads to a folder that holds it: remove the link",
    ],
  },
  {
    name: "a link up to the bundle itself",
    tree: { ...server("a"), "envs/a/all": ["../.."], ...deploying("a") },
    lines: ["link-up envs/a/all/envs/a: leads to a folder that holds it: remove the link"],
  },
  {
    name: "a name twice in Unicode's composed form",
    tree: { ...server("a"), "envs/a/caf\u00e9.txt": "", "envs/a/cafe\u0301.txt": "", ...deploying("a") },
    lines: ["nfc-twins envs/a/café.txt: cafe\\u0301.txt and caf\\u00e9.txt are one name in Unicode's composed form: rename one"],
  },
  {
    name: "a pipe and a link to a device in a build context",
    tree: { ...server("a"), "envs/a/null": ["/dev/null"], ...deploying("a") },
    prepare: (folder) => void execFileSync("mkfifo", [`${folder}/envs/a/pipe`]),
    lines: [
      "outside envs/a/null: leads out of the bundle: put what it points to into the bundle",
      "special envs/a/pipe: is neither a file nor a folder",
    ],
  },
  {
    name: "an ignore file that can't be read, and one with a broken pattern",
    tree: {
      ...server("a"),
      "envs/a/.dockerignore": Buffer.from([0xff]),
      ...server("b"),
      "envs/b/Dockerfile.dockerignore": "a[\n",
      ...deploying("a", "b"),
    },
    lines: [
      "bad-config envs/a/.dockerignore: isn't UTF-8: save it in that encoding",
      `bad-config envs/b/Dockerfile.dockerignore: holds a pattern that can't be one: "a[" is no pattern: a [ or a \\ in it isn't ended`,
    ],
  },
  {
    name: "links in an artifact's files",
    tree: { ...server("a"), "artifacts/c/verify.py": ["/etc/hostname"], ...verifying("a", "c") },
    lines: ["outside artifacts/c/verify.py: leads out of the bundle: put what it points to into the bundle"],
  },
];

/** Artifacts (4-bundle §4.4). */
export const CHECK_ARTIFACTS: readonly Refusal[] = [
  {
    name: "a file artifact without a file, and with two",
    tree: {
      "artifacts/a/artifact.toml": 'type = "file"\n',
      "artifacts/b/artifact.toml": 'type = "file"\n',
      "artifacts/b/x": "",
      "artifacts/b/y": "",
      ...server("e"),
      ...verifying("e", "a", "b"),
    },
    lines: ["no-files artifacts/a: has no file to write", "one-file artifacts/b: holds one file, and has 2"],
  },
  {
    name: "keys that artifacts don't have",
    tree: {
      "artifacts/a/artifact.toml": 'description = "d"\nname = "x"\n',
      "artifacts/a/x": "",
      "artifacts/b/artifact.toml": 'type = "file_artifact_universe"\ndescription = "d"\n',
      "artifacts/b/x": "",
    },
    lines: [
      'unknown-key artifacts/a: artifact.toml: unknown key "name": file takes description, type, id',
      'unknown-key artifacts/b: artifact.toml: unknown key "description": file_artifact_universe takes type, id',
    ],
    run: [NOTHING_TO_RUN],
  },
  {
    name: "a folder of empty folders",
    tree: { "artifacts/a/b/c/": "" },
    lines: ["no-files artifacts/a: has no file to write"],
    run: [NOTHING_TO_RUN],
  },
  {
    name: "an image with a key that it doesn't have, and a description that is no text",
    tree: {
      "artifacts/base/Dockerfile": "FROM scratch\n",
      "artifacts/base/artifact.toml": "description = 1\nimage = 'x'\n",
      ...server("a", `image = "base"\n${named("a")}`),
      ...deploying("a"),
    },
    lines: [
      "wrong-value artifacts/base: artifact.toml: description: expected a string, and found 1",
      'unknown-key artifacts/base: artifact.toml: unknown key "image": docker_image takes description, type, id',
    ],
  },
  {
    name: "data for no server",
    tree: {
      ...server("a"),
      ...seed("b", 'type = "environment"\n'),
      ...seed("c", environment("")),
      ...seed("d", 'type = "environment"\nenvironment_name = 1\n'),
      ...loading("a", "b", "c", "d"),
    },
    lines: [
      "environment artifacts/b: artifact.toml: environment_name: names no server: write the name of the one that the data is for",
      "environment artifacts/c: artifact.toml: environment_name: names no server: write the name of the one that the data is for",
      "wrong-value artifacts/d: artifact.toml: environment_name: expected a string, and found 1",
    ],
  },
  {
    name: "data without a file, and with two",
    tree: {
      ...server("a"),
      "artifacts/b/artifact.toml": environment("a"),
      ...seed("c", environment("a")),
      "artifacts/c/more.json": "",
      ...loading("a", "b", "c"),
    },
    lines: ["no-files artifacts/b: has no file to write", "one-file artifacts/c: holds one file, and has 2"],
  },
  {
    name: "data with a file of its own and another one",
    tree: {
      ...server("a"),
      "artifacts/f/f.json": "",
      ...seed("b", environment("a", 'file = "f"\ndescription = "d"\n')),
      ...loading("a", "b"),
    },
    lines: [
      "environment artifacts/b: artifact.toml: description: describes the folder's own file, and `file` names another: remove it",
      "environment artifacts/b: has a file of its own, and `file` names another: keep one of the two",
    ],
  },
  {
    name: "the store's names for an author's keys",
    tree: {
      ...server("a"),
      ...seed("b", environment("a", 'service_name = "a"\nfile_artifact_id = "x"\n[metadata]\n')),
      "artifacts/c/artifact.toml": universe("service_artifact_refs = []\nenvironment_artifact_refs = []\nmetadata_refs = {}\n"),
      "artifacts/c/a/x.json": "",
      ...loading("a", "b", "c"),
    },
    lines: [
      "environment artifacts/b: artifact.toml: file_artifact_id: is how the store calls it: write `file`",
      "environment artifacts/b: artifact.toml: metadata: is how the store calls it: write the folder metadata/<key>/ of an environment_universe",
      "environment artifacts/b: artifact.toml: service_name: is how the store calls it: write environment_name",
      "environment artifacts/c: artifact.toml: environment_artifact_refs: is how the store calls it: write `environment_artifacts`, or a folder per environment",
      "environment artifacts/c: artifact.toml: metadata_refs: is how the store calls it: write the folder metadata/<key>/ of an environment_universe",
      "environment artifacts/c: artifact.toml: service_artifact_refs: is how the store calls it: write `environment_artifacts`, or a folder per environment",
    ],
  },
  {
    name: "a universe of a wrong layout",
    tree: {
      ...server("a"),
      "artifacts/u/artifact.toml": universe(),
      "artifacts/u/top.json": "",
      "artifacts/u/a/one.json": "",
      "artifacts/u/a/two.json": "",
      "artifacts/u/metadata/about.md": "",
      ...loading("a", "u"),
    },
    lines: [
      "universe artifacts/u/a: holds 2 files, and an environment has one",
      "universe artifacts/u/metadata/about.md: lies in metadata/ itself: put it into metadata/<key>/",
      "universe artifacts/u/top.json: lies at the top: put it into a folder named for its server",
    ],
  },
  {
    name: "a universe whose folder holds a file and another folder",
    tree: {
      ...server("a"),
      "artifacts/u/artifact.toml": universe(),
      "artifacts/u/a/seed.json": "",
      "artifacts/u/a/b/seed.json": "",
      ...loading("a", "u"),
    },
    lines: ["universe artifacts/u/a: holds a file and the folder a/b: a folder is one environment"],
  },
  {
    name: "Metadata in another case, and a universe with nothing in it",
    tree: {
      ...server("a"),
      "artifacts/u/artifact.toml": universe(),
      "artifacts/u/Metadata/about/about.md": "",
      "artifacts/v/artifact.toml": universe("environment_artifacts = []\n"),
      ...loading("a", "u", "v"),
    },
    lines: [
      "universe artifacts/u/Metadata: rename it to metadata: names are case-sensitive",
      "universe artifacts/v: holds no environment: add a folder with a file for each server, or list environment_artifacts",
    ],
  },
  {
    name: "a list that is no list",
    tree: {
      ...server("a"),
      "artifacts/u/artifact.toml": universe('environment_artifacts = "b"\n'),
      "artifacts/u/a/seed.json": "",
      ...loading("a", "u"),
    },
    lines: ['wrong-value artifacts/u: artifact.toml: environment_artifacts: expected a list, and found "b"'],
  },
  {
    name: "data for servers that the env doesn't have",
    tree: {
      ...server("a"),
      ...site("shop"),
      ...multi("m", 'mcp_server_envs = ["a"]\nwebsite_envs = ["shop"]\n'),
      ...seed("b", environment("mail")),
      "artifacts/u/artifact.toml": universe(),
      "artifacts/u/a/x": "",
      "artifacts/u/wiki/x": "",
      ...loading("m", "b", "u"),
    },
    lines: [
      'seed-name tasks/load.json: step \'load\': artifacts/b has data for "mail", and the env\'s servers are "a" and "shop"',
      'seed-name tasks/load.json: step \'load\': artifacts/u has data for "wiki", and the env\'s servers are "a" and "shop"',
    ],
  },
  {
    name: "two environments of one server in a universe",
    tree: {
      ...server("a"),
      ...seed("b", environment("a")),
      "artifacts/u/artifact.toml": universe('environment_artifacts = ["b"]\n'),
      "artifacts/u/a/x": "",
      ...loading("a", "u"),
    },
    lines: ['seed-twice artifacts/u: has two environments of one name, "a": keep one'],
  },
];
