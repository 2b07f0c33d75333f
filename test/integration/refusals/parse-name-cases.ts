import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { named, type Refusal, server, site, steps } from "./refusal.ts";

/** Found while a folder is read (4-bundle §1, §2.2, §8 parse). */
export const PARSE_FOLDER: readonly Refusal[] = [
  {
    name: "a folder without any kind folder",
    tree: { "server.py": "", "README.md": "# Nearly" },
    lines: ['not-a-bundle <bundle>: is no bundle: it has none of the folders "envs", "agents", "artifacts", "skills", "tasks" and "evals"'],
  },
  {
    name: "an empty folder",
    tree: { "notes/": "" },
    lines: ['not-a-bundle <bundle>: is no bundle: it has none of the folders "envs", "agents", "artifacts", "skills", "tasks" and "evals"'],
  },
  {
    name: "only names that nearly are kind folders",
    tree: { "Envs/a/Dockerfile": "", "TASKS/t.json": "[]" },
    lines: ["misspelt Envs: rename it to envs: names are case-sensitive", "misspelt TASKS: rename it to tasks: names are case-sensitive"],
  },
  {
    name: "a bundle.toml",
    tree: { ...server("a"), "bundle.toml": "name = 'x'\n" },
    lines: ["reserved-file bundle.toml: is a reserved name: a bundle is named by its folder and described by README.md; remove the file"],
  },
  {
    name: "a Bundle.TOML beside a misspelt kind folder",
    tree: { ...server("a"), "Bundle.TOML": "", "Evals/e.toml": "" },
    lines: [
      "reserved-file Bundle.TOML: is a reserved name: a bundle is named by its folder and described by README.md; remove the file",
      "misspelt Evals: rename it to evals: names are case-sensitive",
    ],
  },
  {
    name: "reserved names at the root, misspelt",
    tree: { ...server("a"), "Aliases.toml": "", "Agent-Env.lock": "" },
    lines: [
      "misspelt Agent-Env.lock: rename it to agent-env.lock: names are case-sensitive",
      "misspelt Aliases.toml: rename it to aliases.toml: names are case-sensitive",
    ],
  },
  {
    name: "a kind folder twice, in two spellings",
    tree: { ...server("a"), "Envs/b/Dockerfile": "" },
    lines: ["twins Envs and envs: differ only in case or Unicode form: rename one"],
  },
  {
    name: "a kind folder that is a file",
    tree: { ...server("a"), tasks: "", evals: "" },
    lines: ["special evals: is a file where a folder belongs", "special tasks: is a file where a folder belongs"],
  },
  {
    name: "a kind folder that is a link into nowhere",
    tree: { ...server("a"), skills: ["gone"] },
    lines: ["special skills: is a broken link: it isn't there"],
  },
  {
    name: "entries that differ only in case",
    tree: { ...server("crm"), ...server("CRM") },
    lines: ["twins envs/CRM and envs/crm: differ only in case or Unicode form: rename one"],
  },
  {
    name: "entries that differ only in Unicode form or folding",
    tree: {
      ...server("Straße"),
      ...server("STRASSE"),
      "tasks/É.json": "[]",
      "tasks/é.json": "[]",
      "evals/\u00e9.toml": "",
      "evals/e\u0301.toml": "",
    },
    lines: [
      "twins envs/STRASSE and envs/Straße: differ only in case or Unicode form: rename one",
      "twins evals/é.toml and evals/é.toml: are one name in Unicode's composed form, e\\u0301.toml and \\u00e9.toml: rename one",
      "eval-shape evals/é.toml: tasks: expected a list of at least one task, and found none",
      "twins tasks/É.json and tasks/é.json: differ only in case or Unicode form: rename one",
    ],
  },
  {
    name: "a Dockerfile in another spelling",
    tree: { "envs/a/dockerfile": "", "agents/b/DOCKERFILE": "" },
    lines: [
      "misspelt agents/b/DOCKERFILE: rename it to Dockerfile: names are case-sensitive",
      "nothing-to-build agents/b: needs a Dockerfile or agent.toml",
      "misspelt envs/a/dockerfile: rename it to Dockerfile: names are case-sensitive",
      "nothing-to-build envs/a: needs a Dockerfile or env.toml",
    ],
  },
  {
    name: "a config file in another spelling",
    tree: { "envs/a/Env.toml": named("a"), "agents/b/agent.TOML": "", "artifacts/c/Artifact.toml": "", "artifacts/c/x": "" },
    lines: [
      "misspelt agents/b/agent.TOML: rename it to agent.toml: names are case-sensitive",
      "nothing-to-build agents/b: needs a Dockerfile or agent.toml",
      "misspelt artifacts/c/Artifact.toml: rename it to artifact.toml: names are case-sensitive",
      "misspelt envs/a/Env.toml: rename it to env.toml: names are case-sensitive",
      "nothing-to-build envs/a: needs a Dockerfile or env.toml",
    ],
  },
  {
    name: "a SKILL.md in another spelling",
    tree: { "skills/pdf/skill.md": "" },
    lines: ["misspelt skills/pdf/skill.md: rename it to SKILL.md: names are case-sensitive", "no-skill-md skills/pdf: needs SKILL.md"],
  },
  {
    name: "a toml beside its twin",
    tree: { ...server("a"), "envs/a/ENV.toml": "" },
    lines: ["twins envs/a/ENV.toml and envs/a/env.toml: differ only in case or Unicode form: rename one"],
  },
  {
    name: "a Dockerfile beside its twin",
    tree: { ...server("a"), "envs/a/dockerFile": "" },
    lines: ["twins envs/a/Dockerfile and envs/a/dockerFile: differ only in case or Unicode form: rename one"],
  },
  {
    name: "broken links and loops of links",
    tree: { ...server("a"), "envs/b": ["nowhere"], "envs/c": ["d"], "envs/d": ["c"], "tasks/t.json": ["gone.json"] },
    lines: [
      "special envs/b: is a broken link: it isn't there",
      "special envs/c: is a broken link: its links form a loop",
      "special envs/d: is a broken link: its links form a loop",
      "special tasks/t.json: is a broken link: it isn't there",
    ],
  },
  {
    name: "a folder where a config file belongs",
    tree: { "envs/a/env.toml/": "", "artifacts/b/artifact.toml/": "", "artifacts/b/x": "", "agents/c/agent.toml/x": "" },
    lines: [
      "special agents/c/agent.toml: is a folder where a file belongs",
      "special artifacts/b/artifact.toml: is a folder where a file belongs",
      "special envs/a/env.toml: is a folder where a file belongs",
    ],
  },
  {
    name: "a pipe in the place of an entry and of a task",
    tree: { ...server("a"), ...steps() },
    prepare: (folder) => {
      execFileSync("mkfifo", [`${folder}/envs/b`, `${folder}/tasks/u.json`]);
    },
    lines: ["special envs/b: is neither a file nor a folder", "special tasks/u.json: is neither a file nor a folder"],
  },
  {
    name: "folders in tasks and evals",
    tree: { ...server("a"), "tasks/first/x": "", "evals/nightly.toml/": "" },
    lines: [
      "task-folder evals/nightly.toml: folders aren't read in evals/: write a file evals/nightly.toml",
      "task-folder tasks/first: folders aren't read in tasks/: write a file tasks/first.json",
    ],
  },
  {
    name: "a suffix in another case",
    tree: { ...server("a"), "tasks/t.JSON": "[]", "evals/e.Toml": "" },
    lines: [
      "misspelt evals/e.Toml: rename it to e.toml: names are case-sensitive",
      "misspelt tasks/t.JSON: rename it to t.json: names are case-sensitive",
    ],
  },
  {
    name: "a name that isn't UTF-8",
    tree: server("a"),
    prepare: (folder) => mkdirSync(Buffer.concat([Buffer.from(`${folder}/envs/b`), Buffer.from([0xff])])),
    lines: ["special envs/b\\ufffd: can't be read: its name isn't UTF-8: rename it"],
  },
];

/** Found in names, ids and types. */
export const PARSE_NAMES: readonly Refusal[] = [
  {
    name: "a name with a character that ids don't have",
    tree: server("a:b"),
    lines: [
      'bad-name envs/a:b: its name can\'t be part of an id: it holds ":" (U+003A); letters, digits, space and . _ - ~ @ ( ) + , & are allowed; rename it',
    ],
  },
  {
    name: "a name that opens or closes with a space",
    tree: { ...server(" a"), "tasks/t .json": "[]" },
    lines: [
      "bad-name envs/ a: its name can't be part of an id: it opens with a space; rename it",
      "bad-name tasks/t .json: its name can't be part of an id: it closes with a space; rename it",
    ],
  },
  {
    name: "a name with a letter that shows as nothing",
    tree: server("a\u3164b"),
    lines: [
      "bad-name envs/aㅤb: its name can't be part of an id: it holds U+3164; letters, digits, space and . _ - ~ @ ( ) + , & are allowed; rename it",
    ],
  },
  {
    name: "a name whose mark follows no letter",
    tree: server("-\u0301"),
    lines: ["bad-name envs/-́: its name can't be part of an id: a combining mark in it doesn't follow a letter or digit; rename it"],
  },
  {
    name: "controls and direction marks in a name",
    tree: server("a\n\u202eb"),
    lines: [
      "bad-config envs/a\\u000a\\u202eb: env.toml: is no valid TOML: control characters are not allowed in strings (line 1 column 22)",
      "bad-name envs/a\\u000a\\u202eb: its name can't be part of an id: it holds U+000A; letters, digits, space and . _ - ~ @ ( ) + , & are allowed; rename it",
    ],
  },
  {
    name: "two underscores in an artifact and a skill",
    tree: { "artifacts/a__b/x": "", "skills/c__d/SKILL.md": "" },
    lines: [
      'bad-name artifacts/a__b: its name can\'t be part of an id: "__" is kept for the ids of what is made along with an artifact; rename it',
      'bad-name skills/c__d: its name can\'t be part of an id: "__" is kept for the ids of what is made along with an artifact; rename it',
    ],
  },
  {
    name: "a declared id that isn't local",
    tree: { ...server("a", `id = "crm"\n${named("a")}`), ...server("b", `id = "@acme/crm"\n${named("b")}`) },
    lines: [
      'bad-id envs/a: env.toml: id: "crm" is no legal id: it doesn\'t start with "@local/"',
      'bad-id envs/b: env.toml: id: "@acme/crm" is no legal id: it doesn\'t start with "@local/"',
    ],
  },
  {
    name: "a declared id with empty parts, dots or foreign characters",
    tree: {
      ...server("a", 'id = "@local/x//y"\n'),
      ...server("b", 'id = "@local/x/../y"\n'),
      ...server("c", 'id = "@local/x?y"\n'),
      ...server("d", 'id = "@local/"\n'),
    },
    lines: [
      'bad-id envs/a: env.toml: id: "@local/x//y" is no legal id: one of its parts between slashes is empty',
      'bad-id envs/b: env.toml: id: "@local/x/../y" is no legal id: in its part ".." it stands for a folder',
      'bad-id envs/c: env.toml: id: "@local/x?y" is no legal id: in its part "x?y" it holds "?" (U+003F); letters, digits, space and . _ - ~ @ ( ) + , & are allowed',
      'bad-id envs/d: env.toml: id: "@local/" is no legal id: one of its parts between slashes is empty',
    ],
  },
  {
    name: "a declared id in another Unicode form",
    tree: server("a", 'id = "@local/cafe\u0301"\n'),
    lines: ["bad-id envs/a: env.toml: id: \"@local/café\" is no legal id: it isn't in Unicode's composed form (NFC)"],
  },
  {
    name: "a declared id that is too long",
    tree: server("a", `id = "@local/${"x".repeat(4065)}"\n`),
    lines: [
      'bad-id envs/a: env.toml: id: "@local/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… is no legal id: it has 4072 bytes, and 4071 is the most',
    ],
  },
  {
    name: "a declared id with two underscores, of an artifact",
    tree: { "artifacts/a/artifact.toml": 'id = "@local/a__file"\n', "artifacts/a/x": "" },
    lines: [
      'bad-id artifacts/a: artifact.toml: id: "@local/a__file" is no legal id: "__" is kept for the ids of what is made along with an artifact',
    ],
  },
  {
    name: "an id and a type that are no text",
    tree: {
      ...server("a", "id = 1\n"),
      ...server("b", 'id = ["@local/b"]\ntype = true\n'),
      "evals/e.toml": "tasks = [1]\nid = 1.5\ntype = {}\n",
    },
    lines: [
      'bad-id envs/a: env.toml: id: expected a text that starts with "@local/", and found 1',
      'bad-id envs/b: env.toml: id: expected a text that starts with "@local/", and found ["@local/b"]',
      "bad-type envs/b: env.toml: type: expected the name of a type, and found true",
      'bad-id evals/e.toml: id: expected a text that starts with "@local/", and found 1.5',
      "bad-type evals/e.toml: type: expected the name of a type, and found {}",
    ],
  },
  {
    name: "a type that is empty",
    tree: { ...server("a", 'type = ""\n'), "artifacts/b/artifact.toml": 'type = " "\n', "artifacts/b/x": "" },
    lines: [
      'bad-type artifacts/b: artifact.toml: type: expected the name of a type, and found " "',
      'bad-type envs/a: env.toml: type: expected the name of a type, and found ""',
    ],
  },
  {
    name: "one id of two envs",
    tree: { ...server("a", 'id = "@local/crm"\n'), ...server("b", 'id = "@local/crm"\n') },
    lines: ['same-id envs/a and envs/b: have one id, "@local/crm": give one of them another'],
  },
  {
    name: "one id three times",
    tree: { ...server("a", 'id = "@local/crm"\n'), ...server("b", 'id = "@local/crm"\n'), ...site("c", 'id = "@local/crm"\n') },
    lines: [
      'same-id envs/a and envs/b: have one id, "@local/crm": give one of them another',
      'same-id envs/a and envs/c: have one id, "@local/crm": give one of them another',
    ],
  },
  {
    name: "an artifact and a skill of one name",
    tree: { "artifacts/pdf/x": "", "skills/pdf/SKILL.md": "---\nname: pdf\ndescription: d\n---\n" },
    lines: ["same-name artifacts/pdf and skills/pdf: an artifact and a skill of one name would be one id in the store: rename one"],
  },
  {
    name: "an artifact and a skill whose names fold alike",
    tree: { "artifacts/pdf/x": "", "skills/PDF/SKILL.md": "" },
    lines: ["same-name artifacts/pdf and skills/PDF: an artifact and a skill of one name would be one id in the store: rename one"],
  },
];
