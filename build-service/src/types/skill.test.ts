import { chmodSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkedLines } from "../../../test/fixtures/bundle-problems.ts";
import { type FolderTree, temporaryFolder, writeTree } from "../../../test/fixtures/folder.ts";
import { changes, lines, make } from "../../../test/fixtures/make-bundle.ts";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { encodedId, sha256Hex } from "../bundle/ids.ts";
import { fileInTar } from "../images/tar-entry.ts";

const skill = (frontMatter: string): FolderTree => ({ "skills/brew/SKILL.md": `---\n${frontMatter}---\n# Brew\n` });
const NAMED = "name: brew\ndescription: Brews tea.\n";

describe("B5 a skill", () => {
  const cases: [string, FolderTree, string[]][] = [
    [
      "says all that it can, and more of its own",
      skill(
        `${NAMED}license: MIT\ncompatibility: any\nallowed-tools: Bash Read\nmetadata:\n  author: me\n  version: "1.0"\nicon: tea.png\n`,
      ),
      [],
    ],
    ["may have the longest of texts, counted in characters", skill(`name: brew\ndescription: ${"茶".repeat(1022)}🍵🍵\n`), []],
    ["may open with a BOM and have any line ends", { "skills/brew/SKILL.md": `\ufeff---\r\nname: brew\r\ndescription: x\r\n---\r\n` }, []],
    [
      "needs SKILL.md, in that spelling",
      { "skills/brew/README.md": "", "skills/stew/Skill.md": "", "skills/note.md": "" },
      [
        "misspelt skills/stew/Skill.md: rename it to SKILL.md: names are case-sensitive",
        "no-skill-md skills/brew: needs SKILL.md",
        "no-skill-md skills/stew: needs SKILL.md",
      ],
    ],
    [
      "opens with a block of YAML",
      { "skills/brew/SKILL.md": `# Brew\n---\n${NAMED}---\n`, "skills/stew/SKILL.md": `---\n${NAMED}` },
      [
        "skill-md skills/brew: SKILL.md: opens with no YAML between lines of ---, which must say the skill's name and description",
        "skill-md skills/stew: SKILL.md: opens with no YAML between lines of ---, which must say the skill's name and description",
      ],
    ],
    [
      "is named and described",
      skill(""),
      [
        "skill-md skills/brew: SKILL.md: description is missing: it takes a string",
        "skill-md skills/brew: SKILL.md: name is missing: it takes a string",
      ],
    ],
    [
      "has its folder's name",
      skill("name: tea\ndescription: x\n"),
      ['skill-md skills/brew: SKILL.md: name: "tea" is not the folder\'s name, "brew": make them one'],
    ],
    [
      "has values of their kinds and lengths",
      skill(
        `name: Brew--it\ndescription: ""\ncompatibility: ${"x".repeat(501)}\nlicense: 1\nallowed-tools: [Bash]\nmetadata:\n  version: 1.0\n`,
      ),
      [
        'skill-md skills/brew: SKILL.md: allowed-tools: expected a string, and found ["Bash"]',
        "skill-md skills/brew: SKILL.md: compatibility: has more than 500 characters",
        "skill-md skills/brew: SKILL.md: description: is empty: say what the skill is for",
        "skill-md skills/brew: SKILL.md: license: expected a string, and found 1",
        "skill-md skills/brew: SKILL.md: metadata.version: expected a string, and found 1",
        "skill-md skills/brew: SKILL.md: name: expected 1 to 64 of a-z, 0-9 and -, without a - at an end and without two in a row",
      ],
    ],
    [
      "has no longer a name than 64 characters, and a description of 1,024",
      {
        [`skills/${"a".repeat(65)}/SKILL.md`]: `---\nname: ${"a".repeat(65)}\ndescription: ${"x".repeat(1025)}\n---\n`,
      },
      [
        `skill-md skills/${"a".repeat(65)}: SKILL.md: description: has more than 1024 characters`,
        `skill-md skills/${"a".repeat(65)}: SKILL.md: name: expected 1 to 64 of a-z, 0-9 and -, without a - at an end and without two in a row`,
      ],
    ],
    [
      "is YAML that says what it says",
      { ...skill(`${NAMED}name: other\n`), "skills/stew/SKILL.md": "---\nname: &a stew\ndescription: *a\n---\n" },
      [
        "skill-md skills/brew: SKILL.md: what it opens with is no valid YAML: Map keys must be unique (line 4 column 1)",
        "skill-md skills/stew: SKILL.md: what it opens with is no valid YAML: the alias *a is not allowed (line 3 column 14)",
      ],
    ],
    [
      "is a list of nothing",
      skill("- brew\n"),
      ['skill-md skills/brew: SKILL.md: what it opens with: expected an object, and found ["brew"]'],
    ],
    [
      "is no artifact, and no artifact is one",
      {
        "artifacts/brew/SKILL.md": "",
        "artifacts/stew/artifact.toml": 'type = "skill"\n',
        "artifacts/toast/skill.md": "",
        "artifacts/image/SKILL.md": "",
        "artifacts/image/skill.md": "",
        "artifacts/image/Dockerfile": "",
      },
      [
        "is-a-skill artifacts/brew: holds SKILL.md, so it is a skill: move the folder to skills/",
        "is-a-skill artifacts/stew: is of type skill, which no artifact.toml can have: move the folder to skills/",
        "misspelt artifacts/toast/skill.md: rename it to SKILL.md: names are case-sensitive",
      ],
    ],
    [
      "has a name that no artifact has, and room for the ids of its files",
      { ...skill(NAMED), "artifacts/Brew/x": "", "skills/a__b/SKILL.md": "" },
      [
        'bad-name skills/a__b: its name can\'t be part of an id: "__" is kept for the ids of what is made along with an artifact; rename it',
        "same-name artifacts/Brew and skills/brew: an artifact and a skill of one name would be one id in the store: rename one",
      ],
    ],
  ];
  test.each(cases)("%s", async (_name, tree, expected) => {
    expect(await checkedLines(tree)).toEqual(expected);
  });
});

test("a skill is written with its files as a universe and as an archive, modes included", async () => {
  using folder = temporaryFolder({
    ...skill(`${NAMED}license: MIT\nmetadata:\n  author: me\n`),
    "skills/brew/scripts/boil.sh": { run: "#!/bin/sh\n" },
    "tasks/t.json": '[{"id": "load", "type": "load_artifact", "artifact_id": "brew", "sandbox_name": "s"}]',
  });
  const store = memoryStore();
  const { plan } = await make({ folder: folder.path, store });
  expect(lines(plan)).toEqual(["skills/brew: v1 (new)", "tasks/t.json: v1 (new)"]);

  const id = `@local${folder.path}/brew`;
  const record = (of: string, version = 1) => store.json(`records/artifact/${encodedId(of)}/${version}.json`);
  const written = record(id);
  expect(written).toEqual({
    id,
    version: 1,
    type: "skill",
    skill_files_id: `${id}__files`,
    skill_object_url: expect.stringMatching(/^r2:blobs\/sha256\/[0-9a-f]{64}$/),
    skill_s3_url: expect.any(String),
    agent_skills_spec_version: "0.1",
    skill_name: "brew",
    description: "Brews tea.",
    license: "MIT",
    compatibility: null,
    allowed_tools: null,
    skill_metadata: { author: "me" },
  });
  const files = ["SKILL.md", "scripts/boil.sh"].map((path) => ({ path, id: `${id}__files__${sha256Hex(path).slice(0, 16)}` }));
  expect(record(`${id}__files`)).toEqual({
    id: `${id}__files`,
    version: 1,
    type: "file_artifact_universe",
    file_artifact_refs: Object.fromEntries(files.map((file) => [file.path, { id: file.id, version: 1 }])),
    file_artifact_ids: Object.fromEntries(files.map((file) => [file.path, file.id])),
    bundle_object_url: null,
  });

  const archive = async () => {
    const { skill_object_url } = Object(record(id, (await make({ folder: folder.path, store })).plan.versionOf("artifact", id)));
    const found = await store.objects.get(String(skill_object_url).slice("r2:".length));
    if (found === null) throw new Error("the archive isn't stored");
    return found.bytes;
  };
  const first = await archive();
  expect(await fileInTar(first, "scripts/boil.sh")).toBe("#!/bin/sh\n");
  expect(await fileInTar(first, "SKILL.md")).toContain("name: brew\n");

  expect(await archive()).toEqual(first);
  writeTree(folder.path, { "skills/brew/scripts/boil.sh": { run: "#!/bin/sh\nboil\n" } });
  expect(lines((await make({ folder: folder.path, store })).plan)).toEqual([
    "skills/brew: v2 (files changed: scripts/boil.sh)",
    "tasks/t.json: v1, unchanged",
  ]);
  expect(record(`${id}__files__${sha256Hex("SKILL.md").slice(0, 16)}`)).toMatchObject({ version: 1 });
  expect(record(`${id}__files`, 2)).toMatchObject({
    file_artifact_refs: { "scripts/boil.sh": { version: 2 }, "SKILL.md": { version: 1 } },
  });
  const second = await archive();
  expect(await fileInTar(second, "scripts/boil.sh")).toBe("#!/bin/sh\nboil\n");

  chmodSync(join(folder.path, "skills/brew/scripts/boil.sh"), 0o644);
  expect(changes((await make({ folder: folder.path, store })).plan)).toEqual(["skills/brew: v3 (files changed: scripts/boil.sh (mode))"]);
  expect(await archive()).not.toEqual(second);
});
