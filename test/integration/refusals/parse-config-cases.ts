import { deploying, multi, type Refusal, server, steps } from "./refusal.ts";

/** Found in config files and in what an entry has to have. */
export const PARSE_CONFIG: readonly Refusal[] = [
  {
    name: "tomls that can't be read",
    tree: { ...server("a", "x = \n"), ...server("b", "x = 1\nx = 2\n"), ...server("c", "[a\n"), "evals/e.toml": "tasks = [\n" },
    lines: [
      "bad-config envs/a: env.toml: is no valid TOML: invalid value (line 1 column 5)",
      "bad-config envs/b: env.toml: is no valid TOML: trying to redefine an already defined table or value (line 2 column 1)",
      "bad-config envs/c: env.toml: is no valid TOML: illegal character in key (line 1 column 3)",
      "bad-config evals/e.toml: is no valid TOML: invalid value (line 2 column 1)",
    ],
  },
  {
    name: "a toml that isn't UTF-8",
    tree: { "envs/a/env.toml": Buffer.from([0x61, 0xff, 0xfe]) },
    lines: ["bad-config envs/a: env.toml: isn't UTF-8: save it in that encoding"],
  },
  {
    name: "tasks that aren't JSON",
    tree: {
      ...server("a"),
      "tasks/a.json": "",
      "tasks/b.json": "[NaN]",
      "tasks/c.json": "[1,]",
      "tasks/d.json": "{'a': 1}",
      "tasks/e.json": "[]]",
      "tasks/f.json": "[Infinity]",
    },
    lines: [
      "bad-config tasks/a.json: is no valid JSON: expected a value (line 1 column 1)",
      'bad-config tasks/b.json: is no valid JSON: expected a value or "]" (line 1 column 2)',
      "bad-config tasks/c.json: is no valid JSON: expected a value (line 1 column 4)",
      'bad-config tasks/d.json: is no valid JSON: expected a key or "}" (line 1 column 2)',
      "bad-config tasks/e.json: is no valid JSON: expected nothing more (line 1 column 3)",
      'bad-config tasks/f.json: is no valid JSON: expected a value or "]" (line 1 column 2)',
    ],
  },
  {
    name: "a key twice in a step",
    tree: { ...server("a"), "tasks/t.json": '[{"id": "a", "type": "deploy_env", "id": "b"}]' },
    lines: ['bad-config tasks/t.json: is no valid JSON: the key "id" is there twice (line 1 column 36)'],
  },
  {
    name: "nesting deeper than 500",
    tree: { "tasks/t.json": `${"[".repeat(501)}${"]".repeat(501)}`, ...server("a", `x = ${"[".repeat(501)}${"]".repeat(501)}\n`) },
    lines: [
      "bad-config envs/a: env.toml: is no valid TOML: document contains excessively nested structures. aborting. (line 1 column 505)",
      "bad-config tasks/t.json: is no valid JSON: nested deeper than 500 levels (line 1 column 501)",
    ],
  },
  {
    name: "a config file over 8 MiB",
    tree: { ...server("a"), "tasks/t.json": " ".repeat(8 * 1024 * 1024 + 1) },
    lines: ["bad-config tasks/t.json: has 8388609 bytes, and a config file may have 8388608"],
  },
  {
    name: "folders without anything to build",
    tree: { "envs/a/server.py": "", "agents/b/agent.py": "" },
    lines: ["nothing-to-build agents/b: needs a Dockerfile or agent.toml", "nothing-to-build envs/a: needs a Dockerfile or env.toml"],
  },
  {
    name: "artifacts with nothing in them",
    tree: { "artifacts/a/": "", "artifacts/b/.DS_Store": "", "artifacts/c/__pycache__/x.pyc": "", "artifacts/d/artifact.toml": "" },
    lines: [
      "empty artifacts/a: has nothing in it (artifact.toml and what the system leaves behind don't count)",
      "empty artifacts/b: has nothing in it (artifact.toml and what the system leaves behind don't count)",
      "empty artifacts/c: has nothing in it (artifact.toml and what the system leaves behind don't count)",
      "empty artifacts/d: has nothing in it (artifact.toml and what the system leaves behind don't count)",
    ],
  },
  {
    name: "a skill among the artifacts, and a skill without SKILL.md",
    tree: { "artifacts/a/SKILL.md": "", "skills/b/readme.txt": "" },
    lines: ["is-a-skill artifacts/a: holds SKILL.md, so it is a skill: move the folder to skills/", "no-skill-md skills/b: needs SKILL.md"],
  },
  {
    name: "tasks that are no list",
    tree: { "tasks/a.json": "{}", "tasks/b.json": '"deploy"', "tasks/c.json": "null", "tasks/d.json": "1" },
    lines: [
      "task-shape tasks/a.json: a task is a JSON array of steps, objects with the texts `id` and `type`; found {}",
      'task-shape tasks/b.json: a task is a JSON array of steps, objects with the texts `id` and `type`; found "deploy"',
      "task-shape tasks/c.json: a task is a JSON array of steps, objects with the texts `id` and `type`; found null",
      "task-shape tasks/d.json: a task is a JSON array of steps, objects with the texts `id` and `type`; found 1",
    ],
  },
  {
    name: "several steps that are no steps, each told",
    tree: { "tasks/t.json": '[1, {"id": "a", "type": "deploy_env", "env_id": "x"}, {"id": "b"}]' },
    lines: [
      "task-shape tasks/t.json: a task is a JSON array of steps, objects with the texts `id` and `type`; step 1 is 1",
      'task-shape tasks/t.json: a task is a JSON array of steps, objects with the texts `id` and `type`; step 3 is {"id":"b"}',
    ],
  },
  {
    name: "steps that are no steps",
    tree: {
      "tasks/a.json": "[1]",
      "tasks/b.json": '[{"id": "a"}]',
      "tasks/c.json": '[{"type": "deploy_env"}]',
      "tasks/d.json": '[{"id": "", "type": "deploy_env"}]',
      "tasks/e.json": "[[]]",
      "tasks/f.json": '[{"id": 1, "type": 2}]',
    },
    lines: [
      "task-shape tasks/a.json: a task is a JSON array of steps, objects with the texts `id` and `type`; step 1 is 1",
      'task-shape tasks/b.json: a task is a JSON array of steps, objects with the texts `id` and `type`; step 1 is {"id":"a"}',
      'task-shape tasks/c.json: a task is a JSON array of steps, objects with the texts `id` and `type`; step 1 is {"type":"deploy_env"}',
      'task-shape tasks/d.json: a task is a JSON array of steps, objects with the texts `id` and `type`; step 1 is {"id":"","type":"deploy_env"}',
      "task-shape tasks/e.json: a task is a JSON array of steps, objects with the texts `id` and `type`; step 1 is []",
      'task-shape tasks/f.json: a task is a JSON array of steps, objects with the texts `id` and `type`; step 1 is {"id":1,"type":2}',
    ],
  },
  {
    name: "evals without tasks",
    tree: { "evals/a.toml": "", "evals/b.toml": "tasks = []\n", "evals/c.toml": 'tasks = "all"\n', "evals/d.toml": "tasks = 1\n" },
    lines: [
      "eval-shape evals/a.toml: tasks: expected a list of at least one task, and found none",
      "eval-shape evals/b.toml: tasks: expected a list of at least one task, and found []",
      'eval-shape evals/c.toml: tasks: expected a list of at least one task, and found "all"',
      "eval-shape evals/d.toml: tasks: expected a list of at least one task, and found 1",
    ],
  },
  {
    name: "evals with other keys",
    tree: { ...steps(), "evals/a.toml": 'tasks = ["t"]\nk = 3\n', "evals/b.toml": 'taks = ["t"]\nname = "b"\n' },
    lines: [
      'eval-shape evals/a.toml: unknown key "k": an eval takes tasks, type, id',
      "eval-shape evals/b.toml: tasks: expected a list of at least one task, and found none",
      'eval-shape evals/b.toml: unknown keys "taks" and "name" (probably "tasks"): an eval takes tasks, type, id',
    ],
  },
  {
    name: "a lock file that is no TOML",
    tree: { ...server("a"), "agent-env.lock": "[images\n" },
    lines: ["bad-config agent-env.lock: is no valid TOML: illegal character in key (line 1 column 8)"],
  },
  {
    name: "a lock file with other tables",
    tree: { ...server("a"), "agent-env.lock": 'version = 1\n[image]\n"a" = "b"\n' },
    lines: ['bad-config agent-env.lock: holds "version" and "image", and only [images] counts: remove the rest'],
  },
  {
    name: "a lock file whose images are no table, or no digests",
    tree: {
      ...server("a"),
      "agent-env.lock": `[images]\n"node:24-slim" = "latest"\n"python:3" = 1\n"nginx" = "sha256:${"a".repeat(63)}"\n`,
    },
    lines: [
      'bad-config agent-env.lock: [images] "nginx" is "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", and takes a digest, sha256:<64 hex digits>: agent-env run <bundle> --pull --lock writes it',
      'bad-config agent-env.lock: [images] "node:24-slim" is "latest", and takes a digest, sha256:<64 hex digits>: agent-env run <bundle> --pull --lock writes it',
      'bad-config agent-env.lock: [images] "python:3" is 1, and takes a digest, sha256:<64 hex digits>: agent-env run <bundle> --pull --lock writes it',
    ],
  },
  {
    name: "a lock file that is a folder",
    tree: { ...server("a"), "agent-env.lock/x": "" },
    lines: ["special agent-env.lock: is a folder where a file belongs"],
  },
  {
    name: "a lock file, a toml and a task that can't be read",
    tree: { ...server("a", "x"), "agent-env.lock": "images = 1\n", "tasks/t.json": "{" },
    lines: [
      "bad-config agent-env.lock: images is 1, and takes a table: [images]",
      "bad-config envs/a: env.toml: is no valid TOML: incomplete key-value: cannot find end of key (line 1 column 1)",
      'bad-config tasks/t.json: is no valid JSON: expected a key or "}" (line 1 column 2)',
    ],
  },
];

/** Several at once, each entry with its own. */
export const PARSE_TOGETHER: readonly Refusal[] = [
  {
    name: "a broken toml, a broken task and a misspelt file",
    tree: { ...server("a", "= 1\n"), "tasks/t.json": "[", "tasks/u.JSON": "[]" },
    lines: [
      "bad-config envs/a: env.toml: is no valid TOML: unexpected end of key (line 1 column 1)",
      'bad-config tasks/t.json: is no valid JSON: expected a value or "]" (line 1 column 2)',
      "misspelt tasks/u.JSON: rename it to u.json: names are case-sensitive",
    ],
  },
  {
    name: "one entry with three problems",
    tree: { "envs/a:b/Env.toml": "", "envs/a:b/server.py": "" },
    lines: [
      "misspelt envs/a:b/Env.toml: rename it to env.toml: names are case-sensitive",
      'bad-name envs/a:b: its name can\'t be part of an id: it holds ":" (U+003A); letters, digits, space and . _ - ~ @ ( ) + , & are allowed; rename it',
      "nothing-to-build envs/a:b: needs a Dockerfile or env.toml",
    ],
  },
  {
    name: "an id, a type and a broken task",
    tree: { ...server("a", 'id = "x"\ntype = 1\n'), "tasks/t.json": "{", ...deploying("a") },
    lines: [
      'bad-id envs/a: env.toml: id: "x" is no legal id: it doesn\'t start with "@local/"',
      "bad-type envs/a: env.toml: type: expected the name of a type, and found 1",
      'bad-config tasks/t.json: is no valid JSON: expected a key or "}" (line 1 column 2)',
    ],
  },
  {
    name: "twins of which each has a problem",
    tree: { ...server("a", "id = 1\n"), ...server("A", "type = 1\n") },
    lines: [
      "twins envs/A and envs/a: differ only in case or Unicode form: rename one",
      "bad-type envs/A: env.toml: type: expected the name of a type, and found 1",
      'bad-id envs/a: env.toml: id: expected a text that starts with "@local/", and found 1',
    ],
  },
  {
    name: "a reserved file, a kind folder that is a file, an empty artifact",
    tree: { "bundle.toml": "", skills: "", "artifacts/a/": "" },
    lines: [
      "empty artifacts/a: has nothing in it (artifact.toml and what the system leaves behind don't count)",
      "reserved-file bundle.toml: is a reserved name: a bundle is named by its folder and described by README.md; remove the file",
      "special skills: is a file where a folder belongs",
    ],
  },
  {
    name: "the same mistake in every kind",
    tree: {
      "envs/a/env.toml": "id = 0\n",
      "agents/a/agent.toml": "id = 0\n",
      "artifacts/a/artifact.toml": "id = 0\ntype = 'file'\n",
      "evals/a.toml": "id = 0\ntasks = ['x']\n",
    },
    lines: [
      'bad-id agents/a: agent.toml: id: expected a text that starts with "@local/", and found 0',
      'bad-id artifacts/a: artifact.toml: id: expected a text that starts with "@local/", and found 0',
      'bad-id envs/a: env.toml: id: expected a text that starts with "@local/", and found 0',
      'bad-id evals/a.toml: id: expected a text that starts with "@local/", and found 0',
    ],
  },
  {
    name: "problems of parsing hide those that would come later",
    tree: { ...server("a", "unknown = 1\n"), ...multi("m", ""), "tasks/t.json": "[" },
    lines: ['bad-config tasks/t.json: is no valid JSON: expected a value or "]" (line 1 column 2)'],
  },
];
