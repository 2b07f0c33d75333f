import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkedLines } from "../../../test/fixtures/bundle-problems.ts";
import { type FolderTree, temporaryFolder } from "../../../test/fixtures/folder.ts";
import { parseBundle } from "./parse.ts";

const env = (name: string): FolderTree => ({
  [`envs/${name}/Dockerfile`]: "FROM scratch\n",
  [`envs/${name}/env.toml`]: 'environment_name = "x"\n',
});

describe("a folder as a bundle", () => {
  test("B1.1 entries in bundle order, with kinds, types and ids", () => {
    using folder = temporaryFolder({
      "tasks/b.json": "[]",
      "tasks/a-b.json": "[]",
      "tasks/a.json": "[]",
      "evals/e.toml": 'tasks = ["a"]\nid = "@local/other/e"\n',
      "envs/z/Dockerfile": "",
      "envs/a/env.toml": 'type = "website"\nid = "@local/mine/a"\n',
      "artifacts/image/Dockerfile": "",
      "artifacts/one/deep/file.txt": "",
      "artifacts/one/artifact.toml": "",
      "artifacts/tree/a": "",
      "artifacts/tree/b/c": "",
      ".git/config": "",
      "__pycache__/x": "",
      "notes.txt": "",
      "tasks/a.oracle.ts": "",
      "envs/README": "",
    });
    const { bundle, problems } = parseBundle(folder.path);
    const root = `@local${folder.path}`;
    expect(problems).toEqual([]);
    expect(bundle?.idRoot).toBe(root);
    expect(bundle?.entries.map(({ path, kind, type, id }) => `${path} ${kind} ${type} ${id.replace(root, "<root>")}`)).toEqual([
      "envs/a env website @local/mine/a",
      "envs/z env mcp_server <root>/z",
      "artifacts/image artifact docker_image <root>/image",
      "artifacts/one artifact file <root>/one",
      "artifacts/tree artifact file_artifact_universe <root>/tree",
      "tasks/a.json task task <root>/a",
      "tasks/a-b.json task task <root>/a-b",
      "tasks/b.json task task <root>/b",
      "evals/e.toml eval eval @local/other/e",
    ]);
    expect(bundle?.ignored).toEqual(["notes.txt", "envs/README", "tasks/a.oracle.ts"]);
  });

  test.each([
    ["# The suite\nmore", "The suite"],
    ["---\ntitle: x\n---\n\n<p>\n![badge](x)\n[![badge](x)](y)\n\n## Shop and notes\n", "Shop and notes"],
    ["\ufeffPlain\r\n", "Plain"],
    ["\n\n", null],
  ])("is described by the first line of text of its README: %j", (text, description) => {
    using folder = temporaryFolder({ "readme.md": "lower", "README.md": text, ...env("a") });
    expect(parseBundle(folder.path).bundle?.description).toBe(description);
  });

  test("under home, ids start with ~", () => {
    using folder = temporaryFolder({ "home/demo/envs/a/Dockerfile": "", "home/envs/b/Dockerfile": "" });
    const before = process.env["HOME"];
    process.env["HOME"] = join(folder.path, "home");
    try {
      expect(parseBundle(join(folder.path, "home/demo")).bundle?.entries[0]?.id).toBe("@local/~/demo/a");
      expect(parseBundle(join(folder.path, "home")).bundle?.entries[0]?.id).toBe("@local/~/b");
    } finally {
      process.env["HOME"] = before;
    }
  });

  test("in an installed package, ids start with its name and the bundle's", () => {
    using folder = temporaryFolder({
      "node_modules/@acme/envs/package.json": JSON.stringify({
        name: "@acme/envs",
        agentEnv: { format: 1, bundles: { crm: "./bundles/crm-v2" } },
      }),
      "node_modules/@acme/envs/bundles/crm-v2/envs/a/Dockerfile": "",
    });
    expect(parseBundle(join(folder.path, "node_modules/@acme/envs/bundles/crm-v2")).bundle?.idRoot).toBe("@local/@acme/envs/crm");
    expect(parseBundle(folder.path, { package: "agent-env", name: "hello" }).problems[0]?.code).toBe("not-a-bundle");
  });
});

describe("what can't be parsed is refused, all of it at once", () => {
  const cases: [string, FolderTree, string[]][] = [
    [
      "no kind folder",
      { "x.txt": "" },
      ['not-a-bundle <bundle>: is no bundle: it has none of the folders "envs", "agents", "artifacts", "skills", "tasks" and "evals"'],
    ],
    [
      "a reserved file, and names that are nearly right",
      { ...env("a"), "Bundle.toml": "", Tasks: "", "envs/b/dockerfile": "", "envs/b/Env.toml": "", "tasks/t.JSON": "[]" },
      [
        "misspelt envs/b/Env.toml: rename it to env.toml: names are case-sensitive",
        "misspelt envs/b/dockerfile: rename it to Dockerfile: names are case-sensitive",
        "misspelt tasks/t.JSON: rename it to t.json: names are case-sensitive",
        "nothing-to-build envs/b: needs a Dockerfile or env.toml",
        "reserved-file Bundle.toml: is a reserved name: a bundle is named by its folder and described by README.md; remove the file",
        "twins Tasks and tasks: differ only in case or Unicode form: rename one",
      ],
    ],
    [
      "twins",
      { ...env("Straße"), ...env("STRASSE") },
      ["twins envs/STRASSE and envs/Straße: differ only in case or Unicode form: rename one"],
    ],
    [
      "names that can't be in an id",
      { ...env("a:b"), "artifacts/a__b/x": "", "tasks/ t.json": "[]", ...env("a__b") },
      [
        'bad-name artifacts/a__b: its name can\'t be part of an id: "__" is kept for the ids of what is made along with an artifact; rename it',
        'bad-name envs/a:b: its name can\'t be part of an id: it holds ":" (U+003A); letters, digits, space and . _ - ~ @ ( ) + , & are allowed; rename it',
        "bad-name tasks/ t.json: its name can't be part of an id: it opens with a space; rename it",
      ],
    ],
    [
      "declared ids and types",
      {
        "envs/a/env.toml": 'id = "crm"\n',
        "envs/b/env.toml": "id = 1\ntype = 2\n",
        "envs/c/env.toml": 'id = "@local/x//y"\ntype = " "\n',
        "artifacts/d/artifact.toml": 'id = "@local/x__y"\ntype = "file"\n',
      },
      [
        'bad-id artifacts/d: artifact.toml: id: "@local/x__y" is no legal id: "__" is kept for the ids of what is made along with an artifact',
        'bad-id envs/a: env.toml: id: "crm" is no legal id: it doesn\'t start with "@local/"',
        'bad-id envs/b: env.toml: id: expected a text that starts with "@local/", and found 1',
        'bad-id envs/c: env.toml: id: "@local/x//y" is no legal id: one of its parts between slashes is empty',
        "bad-type envs/b: env.toml: type: expected the name of a type, and found 2",
        'bad-type envs/c: env.toml: type: expected the name of a type, and found " "',
      ],
    ],
    [
      "config files",
      {
        "envs/a/env.toml": "x = \n",
        "envs/b/env.toml": Buffer.from([0x61, 0xff]),
        "envs/c/env.toml/": "",
        "tasks/d.json": '[{"id": "a", "id": "b"}]',
        "tasks/e.json": "[NaN]",
        "tasks/f.json": `${"[".repeat(501)}${"]".repeat(501)}`,
        "tasks/g.json": " ".repeat(8 * 1024 * 1024 + 1),
        "evals/h.toml": "tasks = [\n",
      },
      [
        "bad-config envs/a: env.toml: is no valid TOML: invalid value (line 1 column 5)",
        "bad-config envs/b: env.toml: isn't UTF-8: save it in that encoding",
        "bad-config evals/h.toml: is no valid TOML: invalid value (line 2 column 1)",
        'bad-config tasks/d.json: is no valid JSON: the key "id" is there twice (line 1 column 14)',
        'bad-config tasks/e.json: is no valid JSON: expected a value or "]" (line 1 column 2)',
        "bad-config tasks/f.json: is no valid JSON: nested deeper than 500 levels (line 1 column 501)",
        "bad-config tasks/g.json: has 8388609 bytes, and a config file may have 8388608",
        "special envs/c/env.toml: is a folder where a file belongs",
      ],
    ],
    [
      "what is neither file nor folder, and files in the place of folders",
      { ...env("a"), tasks: "", "envs/b": ["nowhere"], "evals/c.toml/": "", "tasks.d": "" },
      [
        "special envs/b: is a broken link: it isn't there",
        "special tasks: is a file where a folder belongs",
        "task-folder evals/c.toml: folders aren't read in evals/: write a file evals/c.toml",
      ],
    ],
    [
      "files that say what an entry is and can't be read",
      {
        "envs/a/env.toml": ["nowhere"],
        "artifacts/b/artifact.toml": ["nowhere"],
        "artifacts/b/x": "",
        "skills/c/SKILL.md": ["SKILL.md"],
        "agents/d/Dockerfile": ["nowhere"],
        "agents/d/x": ["nowhere"],
      },
      [
        "special agents/d/Dockerfile: is a broken link: it isn't there",
        "special artifacts/b/artifact.toml: is a broken link: it isn't there",
        "special envs/a/env.toml: is a broken link: it isn't there",
        "special skills/c/SKILL.md: is a broken link: its links form a loop",
      ],
    ],
    [
      "folders with nothing to go by",
      {
        "envs/a/server.ts": "",
        "agents/b/x": "",
        "artifacts/c/.DS_Store": "",
        "artifacts/d/SKILL.md": "",
        "artifacts/e/artifact.toml": "",
        "skills/f/x": "",
      },
      [
        "empty artifacts/c: has nothing in it (artifact.toml and what the system leaves behind don't count)",
        "empty artifacts/e: has nothing in it (artifact.toml and what the system leaves behind don't count)",
        "is-a-skill artifacts/d: holds SKILL.md, so it is a skill: move the folder to skills/",
        "no-skill-md skills/f: needs SKILL.md",
        "nothing-to-build agents/b: needs a Dockerfile or agent.toml",
        "nothing-to-build envs/a: needs a Dockerfile or env.toml",
      ],
    ],
    [
      "tasks and evals of another shape",
      {
        "tasks/a.json": "{}",
        "tasks/b.json": '[{"id": "x", "type": "t"}, {"id": "y"}]',
        "evals/c.toml": "taks = 1\n",
        "evals/d.toml": "tasks = []\n",
      },
      [
        "eval-shape evals/c.toml: tasks: expected a list of at least one task, and found none",
        'eval-shape evals/c.toml: unknown key "taks" (probably "tasks"): an eval takes tasks, type, id',
        "eval-shape evals/d.toml: tasks: expected a list of at least one task, and found []",
        "task-shape tasks/a.json: a task is a JSON array of steps, objects with the texts `id` and `type`; found {}",
        'task-shape tasks/b.json: a task is a JSON array of steps, objects with the texts `id` and `type`; step 2 is {"id":"y"}',
      ],
    ],
    [
      "one id or name twice",
      {
        ...env("a"),
        "envs/b/env.toml": 'id = "@local/x"\n',
        "envs/c/env.toml": 'id = "@local/x"\n',
        "artifacts/pdf/x": "",
        "skills/PDF/SKILL.md": "",
      },
      [
        'same-id envs/b and envs/c: have one id, "@local/x": give one of them another',
        "same-name artifacts/pdf and skills/PDF: an artifact and a skill of one name would be one id in the store: rename one",
      ],
    ],
    [
      "controls in names are shown escaped",
      { ...env("a"), "envs/b\n\u202ec/x": "" },
      [
        "bad-name envs/b\\u000a\\u202ec: its name can't be part of an id: it holds U+000A; letters, digits, space and . _ - ~ @ ( ) + , & are allowed; rename it",
        "nothing-to-build envs/b\\u000a\\u202ec: needs a Dockerfile or env.toml",
      ],
    ],
  ];
  test.each(cases)("B5 %s", async (_name, tree, lines) => {
    expect(await checkedLines(tree)).toEqual(lines);
  });

  test("B5 a folder that isn't there, is a file, or is the root", () => {
    using folder = temporaryFolder({ file: "" });
    const lines = [join(folder.path, "nowhere"), join(folder.path, "file"), "/"].map((path) => parseBundle(path).problems[0]?.message);
    expect(lines).toEqual([
      "can't be opened: it isn't there",
      "is a file: name the folder that holds the bundle",
      "is the file system's root, which can be no bundle: name a folder in it",
    ]);
  });

  test("B5 a path that can't be in an id", () => {
    using folder = temporaryFolder({ "a#b/envs/x/Dockerfile": "" });
    const { problems } = parseBundle(join(folder.path, "a#b"));
    expect(problems).toEqual([
      {
        code: "id-root",
        path: join(folder.path, "a#b"),
        message:
          'can\'t be part of an id: it holds "#" (U+0023); letters, digits, space and . _ - ~ @ ( ) + , & are allowed; rename the folder, or move the bundle',
      },
    ]);
  });

  test("B5 a lone variant of Dockerfile is content where a type is declared", async () => {
    expect(await checkedLines({ "artifacts/a/artifact.toml": 'type = "file"\n', "artifacts/a/dockerfile": "" })).toEqual([]);
  });
});
