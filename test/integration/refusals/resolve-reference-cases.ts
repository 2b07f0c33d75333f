import { deploying, loading, multi, named, type Refusal, seed, server, site, steps, verifying } from "./refusal.ts";

const deploy = (id: string, more: object = {}) => ({ id, type: "deploy_env", env_id: "a", ...more });

/** References (4-bundle §3). */
export const RESOLVE_REFERENCES: readonly Refusal[] = [
  {
    name: "references of a wrong form in a toml",
    tree: {
      ...multi(
        "m",
        'mcp_server_envs = [1, "", { env = "a", tag = "x" }, { artifact = "a" }, { env = "a", version = 1.0 }, { env = "a", version = "1" }, { env = 1 }]\n',
      ),
      ...server("a"),
      ...deploying("m"),
    },
    lines: [
      'bad-ref envs/m: mcp_server_envs[0]: expected "<name or id>" or { env = "<name or id>", version = <whole number from 1> }, and found 1',
      'bad-ref envs/m: mcp_server_envs[1]: expected "<name or id>" or { env = "<name or id>", version = <whole number from 1> }, and found ""',
      'bad-ref envs/m: mcp_server_envs[2]: expected "<name or id>" or { env = "<name or id>", version = <whole number from 1> }, and found {"env":"a","tag":"x"}',
      'bad-ref envs/m: mcp_server_envs[3]: expected "<name or id>" or { env = "<name or id>", version = <whole number from 1> }, and found {"artifact":"a"}',
      'bad-ref envs/m: mcp_server_envs[4]: expected "<name or id>" or { env = "<name or id>", version = <whole number from 1> }, and found {"env":"a","version":1}: a number with a point is no whole one in TOML',
      'bad-ref envs/m: mcp_server_envs[5]: expected "<name or id>" or { env = "<name or id>", version = <whole number from 1> }, and found {"env":"a","version":"1"}',
      'bad-ref envs/m: mcp_server_envs[6]: expected "<name or id>" or { env = "<name or id>", version = <whole number from 1> }, and found {"env":1}',
    ],
  },
  {
    name: "ids of another root, and illegal ones",
    tree: { ...server("a"), ...multi("m", 'mcp_server_envs = ["@acme/crm", "@local/x//y", "@local"]\n'), ...deploying("m") },
    lines: [
      'bad-ref envs/m: mcp_server_envs[0]: "@acme/crm" is no id: one opens with "@local/" or with no @ at all',
      'bad-ref envs/m: mcp_server_envs[1]: "@local/x//y" is no legal id: one of its parts between slashes is empty',
      'bad-ref envs/m: mcp_server_envs[2]: "@local" is no id: one opens with "@local/" or with no @ at all',
    ],
  },
  {
    name: "pins on what the bundle writes, by name and by id",
    tree: {
      ...server("a"),
      ...multi("m", 'mcp_server_envs = [{ env = "a", version = 2 }, { env = "<root>/a", version = 1 }]\n'),
      ...deploying("m"),
    },
    lines: [
      'pinned envs/m: mcp_server_envs[0]: "a" is this bundle\'s own, which is written by this run and has no fixed version: leave out the version',
      'pinned envs/m: mcp_server_envs[1]: "<root>/a" is this bundle\'s own, which is written by this run and has no fixed version: leave out the version',
    ],
  },
  {
    name: "a pin in a step",
    tree: { ...server("a"), ...steps(deploy("x", { env_version: 3 })) },
    lines: [
      "pinned tasks/t.json: step 'x': env_id: \"a\" is this bundle's own, which is written by this run and has no fixed version: leave out the version",
    ],
  },
  {
    name: "a pin on an image that is built here",
    tree: {
      ...server("a"),
      ...server("b", `image = { artifact = "<root>/a__env_image", version = 1 }\n${named("b")}`),
      ...deploying("a", "b"),
    },
    lines: [
      'pinned envs/b: image: "<root>/a__env_image" is this bundle\'s own, which is written by this run and has no fixed version: leave out the version',
    ],
  },
  {
    name: "children of the wrong type",
    tree: {
      ...server("a"),
      ...site("s"),
      ...multi("m", 'mcp_server_envs = ["s"]\nwebsite_envs = ["a"]\n'),
      ...multi("n", 'mcp_server_envs = ["m"]\n'),
      ...deploying("m", "n"),
    },
    lines: [
      'wrong-kind envs/m: mcp_server_envs[0]: "s" is this bundle\'s env of type website (envs/s), and the field takes an env of type mcp_server',
      'wrong-kind envs/m: website_envs[0]: "a" is this bundle\'s env of type mcp_server (envs/a), and the field takes an env of type website',
      'wrong-kind envs/n: mcp_server_envs[0]: "m" is this bundle\'s env of type multi (envs/m), and the field takes an env of type mcp_server',
    ],
  },
  {
    name: "artifacts of the wrong type in steps",
    tree: {
      ...server("a"),
      "artifacts/notes/notes.md": "",
      "artifacts/tree/a": "",
      "artifacts/tree/b": "",
      ...loading("a", "notes"),
      ...verifying("a", "tree"),
    },
    lines: [
      "wrong-kind tasks/load.json: step 'load': artifacts[0].id: \"notes\" is this bundle's artifact of type file (artifacts/notes), and the field takes an artifact of type environment or environment_universe",
      "wrong-kind tasks/verify.json: step 'verify tree': file_artifact_id: \"tree\" is this bundle's artifact of type file_artifact_universe (artifacts/tree), and the field takes an artifact of type file",
    ],
  },
  {
    name: "an entity of another kind, by its id",
    tree: {
      ...server("a"),
      "artifacts/b/x": "",
      ...steps(deploy("x", { env_id: "<root>/b" }), deploy("y", { env_id: "<root>/a__env_image" })),
    },
    lines: [
      "wrong-kind tasks/t.json: step 'x': env_id: \"b\" is this bundle's artifact of type file (artifacts/b), and the field takes an env",
      "wrong-kind tasks/t.json: step 'y': env_id: \"<root>/a__env_image\" is this bundle's image, and the field takes an env",
    ],
  },
  {
    name: "an image where a file belongs",
    tree: { ...server("a"), "artifacts/base/Dockerfile": "", ...verifying("a", "base", "<root>/a__env_image") },
    lines: [
      "wrong-kind tasks/verify.json: step 'verify <root>/a__env_image': file_artifact_id: \"<root>/a__env_image\" is this bundle's image, and the field takes an artifact of type file",
      "wrong-kind tasks/verify.json: step 'verify base': file_artifact_id: \"base\" is this bundle's artifact of type docker_image (artifacts/base), and the field takes an artifact of type file",
    ],
  },
  {
    name: "a file where an image belongs",
    tree: { ...server("a", `image = "seed"\n${named("a")}`), "artifacts/seed/seed.json": "", ...deploying("a") },
    lines: [
      'wrong-kind envs/a: image: "seed" is this bundle\'s artifact of type file (artifacts/seed), and the field takes an artifact of type docker_image',
    ],
  },
  {
    name: "names in another case",
    tree: { ...server("crm"), ...multi("m", 'mcp_server_envs = ["CRM", "<root>/Crm"]\n'), ...deploying("m", "Crm") },
    lines: [
      'near-ref envs/m: mcp_server_envs[0]: "CRM" isn\'t in this bundle, but "crm" is: names are case-sensitive',
      'near-ref envs/m: mcp_server_envs[1]: "<root>/Crm" isn\'t in this bundle, but "<root>/crm" is: names are case-sensitive',
      'near-ref tasks/run.json: step \'deploy Crm\': env_id: "Crm" isn\'t in this bundle, but "crm" is: names are case-sensitive',
    ],
  },
  {
    name: "names that only look alike are told apart",
    tree: { ...server("Straße"), ...deploying("STRASSE") },
    lines: [
      'near-ref tasks/run.json: step \'deploy STRASSE\': env_id: "STRASSE" isn\'t in this bundle, but "Stra\\u00dfe" is: names are case-sensitive',
    ],
  },
  {
    name: "files that the bundle ignores",
    tree: {
      ...server("a"),
      "envs/notes.md": "",
      "artifacts/seed.json": "{}",
      ...multi("m", 'mcp_server_envs = ["notes.md"]\n'),
      ...verifying("m", "seed.json"),
    },
    lines: [
      "ignored-ref envs/m: mcp_server_envs[0]: names the file envs/notes.md, which the bundle ignores: an entry of envs/ is a folder: put the file into one",
      "ignored-ref tasks/verify.json: step 'verify seed.json': file_artifact_id: names the file artifacts/seed.json, which the bundle ignores: an entry of artifacts/ is a folder: put the file into one",
    ],
  },
  {
    name: "an eval's tasks: pinned, of a wrong form, of another kind",
    tree: {
      ...server("a"),
      ...steps(deploy("x")),
      "evals/e.toml": 'tasks = [{ task = "t", version = 1 }, 7, { env = "a" }, "T", "<root>/a"]\n',
    },
    lines: [
      'pinned evals/e.toml: tasks[0]: "t" is this bundle\'s own, which is written by this run and has no fixed version: leave out the version',
      'bad-ref evals/e.toml: tasks[1]: expected "<name or id>" or { task = "<name or id>", version = <whole number from 1> }, and found 7',
      'bad-ref evals/e.toml: tasks[2]: expected "<name or id>" or { task = "<name or id>", version = <whole number from 1> }, and found {"env":"a"}',
      'near-ref evals/e.toml: tasks[3]: "T" isn\'t in this bundle, but "t" is: names are case-sensitive',
      'wrong-kind evals/e.toml: tasks[4]: "a" is this bundle\'s env of type mcp_server (envs/a), and the field takes a task',
    ],
  },
  {
    name: "a task twice in an eval, by name and by id",
    tree: { ...server("a"), ...steps(deploy("x")), "evals/e.toml": 'tasks = ["t", "<root>/t", "t"]\n' },
    lines: [
      "eval-twice evals/e.toml: tasks[1]: is tasks[0] again: a task is listed once",
      "eval-twice evals/e.toml: tasks[2]: is tasks[0] again: a task is listed once",
    ],
  },
];

/** How steps depend on each other, as far as it can be told without reading them. */
export const RESOLVE_STEPS: readonly Refusal[] = [
  {
    name: "dependencies that are no list of ids",
    tree: {
      ...server("a"),
      ...steps(deploy("x", { depends_on: "y" }), deploy("y", { depends_on: [1] }), deploy("z", { depends_on: { id: "x" } })),
    },
    lines: [
      "depends-on tasks/t.json: step 'x': depends_on: expected a list of step ids, and found \"y\"",
      "depends-on tasks/t.json: step 'y': depends_on: expected a list of step ids, and found [1]",
      'depends-on tasks/t.json: step \'z\': depends_on: expected a list of step ids, and found {"id":"x"}',
    ],
  },
  {
    name: "dependencies on no step of the task",
    tree: {
      ...server("a"),
      ...steps(deploy("x", { depends_on: ["nobody"] }), deploy("y", { depends_on: [{ task_step_id: "gone" }, "x"] })),
    },
    lines: [
      'depends-on tasks/t.json: step \'x\': depends_on: "nobody" is no step of this task: its steps are "x" and "y"',
      'depends-on tasks/t.json: step \'y\': depends_on: "gone" is no step of this task: its steps are "x" and "y"',
    ],
  },
];

/** Several at once: each is told, those of one entry and those of many. */
export const RESOLVE_TOGETHER: readonly Refusal[] = [
  {
    name: "an unknown type, a bad reference and a missing Dockerfile",
    tree: {
      ...server("a", 'type = "nope"\n'),
      "envs/b/env.toml": named("b"),
      ...multi("m", "mcp_server_envs = [3]\n"),
      ...deploying("a", "b", "m"),
    },
    lines: [
      'unknown-type envs/a: there is no env type "nope": known are mcp_server, multi, website',
      'image-file envs/b: image: there is no file "Dockerfile" in this folder to build: add it, or name another with { dockerfile = … } or an image\'s id',
      'bad-ref envs/m: mcp_server_envs[0]: expected "<name or id>" or { env = "<name or id>", version = <whole number from 1> }, and found 3',
    ],
  },
  {
    name: "three problems of one multi",
    tree: { ...server("a"), ...site("s"), ...multi("m", 'mcp_server_envs = ["A", "s", { env = "a", version = 1 }]\n'), ...deploying("m") },
    lines: [
      'near-ref envs/m: mcp_server_envs[0]: "A" isn\'t in this bundle, but "a" is: names are case-sensitive',
      'wrong-kind envs/m: mcp_server_envs[1]: "s" is this bundle\'s env of type website (envs/s), and the field takes an env of type mcp_server',
      'pinned envs/m: mcp_server_envs[2]: "a" is this bundle\'s own, which is written by this run and has no fixed version: leave out the version',
    ],
  },
  {
    name: "three problems of one step",
    tree: {
      ...server("a"),
      ...seed("b", `type = "environment"\n${named("a")}`),
      ...steps({ id: "x", type: "load_artifact", env_id: "A", artifact_id: "b", artifact_version: 1, depends_on: ["gone"] }),
    },
    lines: [
      "pinned tasks/t.json: step 'x': artifact_id: \"b\" is this bundle's own, which is written by this run and has no fixed version: leave out the version",
      'depends-on tasks/t.json: step \'x\': depends_on: "gone" is no step of this task: its steps are "x"',
      'near-ref tasks/t.json: step \'x\': env_id: "A" isn\'t in this bundle, but "a" is: names are case-sensitive',
    ],
  },
  {
    name: "a step's unknown type beside another step's reference",
    tree: { ...server("a"), ...steps(deploy("x", { type: "deploy" }), deploy("y", { env_id: "@x/y" })) },
    lines: [
      "unknown-type tasks/t.json: step 'x': there is no step type \"deploy\": known are agent_prompt_response_verifier, aggregate_verifiers, apply_server_config, deploy_agent, deploy_env, deploy_sandbox, env_outcome_verifier, load_artifact, modify_env_tool_access, peer_agents, prompt_agent, register_env_triggers, reset_env, rubrics_verifier, run_code, run_container_unit_tests_verifier, run_docker_container, sync_env_clock, teardown_sandboxes, verify_env_card, verify_env_core_protocol, verify_sandbox",
      'bad-ref tasks/t.json: step \'y\': env_id: "@x/y" is no id: one opens with "@local/" or with no @ at all',
    ],
  },
  {
    name: "the same wrong reference at many places is told at each",
    tree: {
      ...server("a"),
      ...multi("m", 'mcp_server_envs = ["A", "A"]\n'),
      ...steps(deploy("x", { env_id: "A" }), deploy("y", { env_id: "A" }), deploy("z", { env_id: "m" })),
    },
    lines: [
      'near-ref envs/m: mcp_server_envs[0]: "A" isn\'t in this bundle, but "a" is: names are case-sensitive',
      'near-ref envs/m: mcp_server_envs[1]: "A" isn\'t in this bundle, but "a" is: names are case-sensitive',
      'near-ref tasks/t.json: step \'x\': env_id: "A" isn\'t in this bundle, but "a" is: names are case-sensitive',
      'near-ref tasks/t.json: step \'y\': env_id: "A" isn\'t in this bundle, but "a" is: names are case-sensitive',
    ],
  },
];
