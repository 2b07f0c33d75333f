import { deploying, loading, multi, named, type Refusal, seed, server, steps } from "./refusal.ts";

const environment = (name: string, more = ""): string => `type = "environment"\nenvironment_name = "${name}"\n${more}`;
const deploy = (id: string, more: object = {}) => ({ id, type: "deploy_env", env_id: "a", ...more });

/** Steps and tasks (4-bundle §4.6, 5-run §7–8). */
export const CHECK_TASKS: readonly Refusal[] = [
  {
    name: "fields that are missing",
    tree: {
      ...server("a"),
      ...steps({ id: "x", type: "deploy_env" }, { id: "y", type: "env_outcome_verifier" }, { id: "z", type: "load_artifact" }),
    },
    lines: [
      "bad-step tasks/t.json: step 'x': env_id is missing: it takes a string",
      "bad-step tasks/t.json: step 'y': env_id is missing: it takes a string",
      "bad-step tasks/t.json: step 'y': file_artifact_id is missing: it takes a string",
      "bad-step tasks/t.json: step 'z': names no target: set env_id, agent_name or sandbox_name",
      "bad-step tasks/t.json: step 'z': names nothing to load: set artifact_id or artifacts",
    ],
  },
  {
    name: "a field missing, and one nobody knows",
    tree: { ...server("a"), ...steps({ id: "x", type: "deploy_env", env_idd: "a", colour: "red" }) },
    lines: [
      'bad-step tasks/t.json: step \'x\': deploy_env has no "env_idd" and "colour" (probably "env_id"): not used, and not written',
      "bad-step tasks/t.json: step 'x': env_id is missing: it takes a string",
    ],
  },
  {
    name: "what is unresolved, and all else",
    tree: {
      ...server("a", `${named("a")}imgae = "x"\n`),
      ...multi("m", 'mcp_server_envs = ["A"]\nnme = "x"\n'),
      ...seed("data", 'typ = "environment"\nenvironment_name = "a"\n'),
      ...steps(
        deploy("x", { env_id: "A", depends_on: ["later"] }),
        { id: "y", type: "load_artifact", env_id: "a", artifacts: [{ id: "data" }, { id: "<root>/gone" }] },
        deploy("z", { cpu: "2" }),
      ),
    },
    lines: [
      'unknown-key artifacts/data: artifact.toml: unknown keys "typ" and "environment_name" (probably "type"): file takes description, type, id',
      'unknown-key envs/a: env.toml: unknown key "imgae" (probably "image"): mcp_server takes image, environment_name, env_provider_type, type, id',
      'unknown-key envs/m: env.toml: unknown key "nme" (probably "name"): multi takes mcp_server_envs, website_envs, name, env_provider_type, type, id',
      'near-ref envs/m: mcp_server_envs[0]: "A" isn\'t in this bundle, but "a" is: names are case-sensitive',
      'depends-on tasks/t.json: step \'x\': depends_on: "later" is no step of this task: its steps are "x", "y" and "z"',
      'near-ref tasks/t.json: step \'x\': env_id: "A" isn\'t in this bundle, but "a" is: names are case-sensitive',
      "wrong-kind tasks/t.json: step 'y': artifacts[0].id: \"data\" is this bundle's artifact of type file (artifacts/data), and the field takes an artifact of type environment or environment_universe",
      "foreign-id tasks/t.json: step 'y': artifacts[1].id: \"<root>/gone\" is an id of this bundle, which has no such artifact",
      "bad-step tasks/t.json: step 'z': cpu: expected a number, and found \"2\"",
    ],
    // The artifact is no data for an env, so no task reaches it.
    run: [
      'unknown-key envs/a: env.toml: unknown key "imgae" (probably "image"): mcp_server takes image, environment_name, env_provider_type, type, id',
      'depends-on tasks/t.json: step \'x\': depends_on: "later" is no step of this task: its steps are "x", "y" and "z"',
      'near-ref tasks/t.json: step \'x\': env_id: "A" isn\'t in this bundle, but "a" is: names are case-sensitive',
      "wrong-kind tasks/t.json: step 'y': artifacts[0].id: \"data\" is this bundle's artifact of type file (artifacts/data), and the field takes an artifact of type environment or environment_universe",
      "foreign-id tasks/t.json: step 'y': artifacts[1].id: \"<root>/gone\" is an id of this bundle, which has no such artifact",
      "bad-step tasks/t.json: step 'z': cpu: expected a number, and found \"2\"",
    ],
  },
  {
    name: "fields of a wrong kind",
    tree: {
      ...server("a"),
      ...steps(deploy("x", { ttl_seconds: "1h", cpu: "2", metadata: [] }), deploy("y", { env_id: 1, sandbox_type: 3, gateway_mode: true })),
    },
    lines: [
      "bad-step tasks/t.json: step 'x': cpu: expected a number, and found \"2\"",
      "bad-step tasks/t.json: step 'x': metadata: expected an object, and found []",
      "bad-step tasks/t.json: step 'x': ttl_seconds: expected a number, and found \"1h\"",
      "bad-step tasks/t.json: step 'y': env_id: expected a string, and found 1",
      "bad-step tasks/t.json: step 'y': gateway_mode: expected a string, and found true",
      "bad-step tasks/t.json: step 'y': sandbox_type: expected a string, and found 3",
    ],
  },
  {
    name: "numbers out of range, and fractions where none may be",
    tree: {
      ...server("a"),
      ...steps(deploy("x", { ttl_seconds: 1.5, env_version: 0 }), deploy("y", { env_version: -1 }), deploy("z", { env_version: 1.5 })),
    },
    lines: [
      "bad-step tasks/t.json: step 'x': env_version: expected more than 0, and found 0",
      "bad-step tasks/t.json: step 'x': ttl_seconds: expected a whole number, and found 1.5",
      "bad-step tasks/t.json: step 'y': env_version: expected more than 0, and found -1",
      "bad-step tasks/t.json: step 'z': env_version: expected a whole number, and found 1.5",
    ],
  },
  {
    name: "an empty text",
    tree: { ...server("a"), ...steps(deploy("x", { env_id: "" }), deploy("y", { sandbox_type: "" })) },
    lines: [
      "bad-step tasks/t.json: step 'x': env_id: expected a text that isn't empty, and found \"\"",
      "bad-step tasks/t.json: step 'y': sandbox_type: expected a text that isn't empty, and found \"\"",
    ],
  },
  {
    name: "fields that exclude each other",
    tree: {
      ...server("a"),
      ...seed("b", environment("a")),
      ...steps(deploy("x"), { id: "y", type: "load_artifact", env_id: "a", artifact_id: "b", artifacts: [{ id: "b" }] }),
    },
    lines: ["bad-step tasks/t.json: step 'y': artifacts and artifact_id exclude each other: put all of them into artifacts"],
  },
  {
    name: "an aggregator that nobody has",
    tree: {
      ...server("a"),
      "artifacts/v/v.py": "",
      ...steps(deploy("x"), { id: "y", type: "env_outcome_verifier", env_id: "a", file_artifact_id: "v", score_aggregator: "median" }),
    },
    lines: [
      'bad-step tasks/t.json: step \'y\': score_aggregator: expected "all_pass" or "any_pass" or "weighted_average", and found "median"',
    ],
  },
  {
    name: "a fail_task_on_error that is no boolean",
    tree: { ...server("a"), ...steps(deploy("x", { fail_task_on_error: "no" }), deploy("y", { fail_task_on_error: 0 })) },
    lines: [
      "bad-step tasks/t.json: step 'x': fail_task_on_error: expected true or false, and found \"no\"",
      "bad-step tasks/t.json: step 'y': fail_task_on_error: expected true or false, and found 0",
    ],
  },
  {
    name: "step ids that repeat",
    tree: { ...server("a"), ...steps(deploy("x"), deploy("x"), deploy("y"), deploy("y"), deploy("x")) },
    lines: ['bad-task tasks/t.json: step ids repeat: "x" and "y": give each step its own'],
  },
  {
    name: "a step that waits for itself, and one that waits for a later one",
    tree: {
      ...server("a"),
      ...steps(deploy("x", { depends_on: ["x"] }), deploy("y", { depends_on: ["z", { task_step_id: "x" }] }), deploy("z")),
    },
    lines: [
      "bad-task tasks/t.json: step 'x' depends on \"x\", and only earlier steps can be waited for",
      "bad-task tasks/t.json: step 'y' depends on \"z\", and only earlier steps can be waited for",
    ],
  },
  {
    name: "an entity with an id of this bundle that isn't there",
    tree: {
      ...server("a"),
      ...multi("m", 'mcp_server_envs = ["<root>/gone"]\n'),
      ...steps(deploy("x", { env_id: "<root>/lost" }), deploy("y", { env_id: "m" })),
    },
    lines: [
      'foreign-id envs/m: mcp_server_envs[0]: "<root>/gone" is an id of this bundle, which has no such env',
      "foreign-id tasks/t.json: step 'x': env_id: \"<root>/lost\" is an id of this bundle, which has no such env",
    ],
  },
];

/** Loops, and several problems at once. */
export const CHECK_TOGETHER: readonly Refusal[] = [
  {
    name: "data whose file is the data itself",
    tree: { ...server("a"), "artifacts/b/artifact.toml": environment("a", 'file = "<root>/b"\n'), ...loading("a", "b") },
    lines: [
      'wrong-kind artifacts/b: file: "b" is this bundle\'s artifact of type environment (artifacts/b), and the field takes an artifact of type file',
    ],
  },
  {
    name: "an env, an artifact and a step with a problem each",
    tree: {
      ...server("a", `${named("a")}x = 1\n`),
      ...seed("b", environment("a", "x = 1\n")),
      ...steps(deploy("x", { ttl_seconds: "1" }), { id: "y", type: "load_artifact", env_id: "a", artifact_id: "b" }),
    },
    lines: [
      'unknown-key artifacts/b: artifact.toml: unknown key "x": environment takes environment_name, file, description, type, id',
      'unknown-key envs/a: env.toml: unknown key "x": mcp_server takes image, environment_name, env_provider_type, type, id',
      "bad-step tasks/t.json: step 'x': ttl_seconds: expected a number, and found \"1\"",
    ],
  },
  {
    name: "three problems of one step",
    tree: { ...server("a"), ...steps(deploy("x", { ttl_seconds: "1", cpu: "2", fail_task_on_error: "no" })) },
    lines: [
      "bad-step tasks/t.json: step 'x': cpu: expected a number, and found \"2\"",
      "bad-step tasks/t.json: step 'x': fail_task_on_error: expected true or false, and found \"no\"",
      "bad-step tasks/t.json: step 'x': ttl_seconds: expected a number, and found \"1\"",
    ],
  },
  {
    name: "a bad field, a repeated id and a late dependency in one task",
    tree: { ...server("a"), ...steps(deploy("x", { cpu: "1", depends_on: ["y"] }), deploy("y"), deploy("y")) },
    lines: [
      "bad-task tasks/t.json: step 'x' depends on \"y\", and only earlier steps can be waited for",
      "bad-step tasks/t.json: step 'x': cpu: expected a number, and found \"1\"",
      'bad-task tasks/t.json: step ids repeat: "y": give each step its own',
    ],
  },
  {
    name: "a link out, an unknown key and an empty name of one env",
    tree: { ...server("a", 'environment_name = ""\nx = 1\n'), "envs/a/out": ["/etc/hostname"], ...deploying("a") },
    lines: [
      "outside envs/a/out: leads out of the bundle: put what it points to into the bundle",
      "empty-name envs/a: env.toml: environment_name: is empty: write the server's name, or leave the key out to take it from the card in its source",
      'unknown-key envs/a: env.toml: unknown key "x": mcp_server takes image, environment_name, env_provider_type, type, id',
    ],
  },
  {
    name: "one mistake that two tasks reach is told once",
    tree: { ...server("a", `${named("a")}x = 1\n`), ...steps(deploy("x")), ...deploying("a") },
    lines: ['unknown-key envs/a: env.toml: unknown key "x": mcp_server takes image, environment_name, env_provider_type, type, id'],
  },
  {
    name: "a foreign id, a missing server and a wrong value",
    tree: {
      ...server("a", `${named("a")}env_provider_type = 1\n`),
      ...seed("b", environment("mail")),
      ...multi("m", 'mcp_server_envs = ["a", "<root>/gone"]\n'),
      ...deploying("m"),
      ...loading("a", "b"),
    },
    lines: [
      "wrong-value envs/a: env.toml: env_provider_type: expected a string, and found 1",
      'foreign-id envs/m: mcp_server_envs[1]: "<root>/gone" is an id of this bundle, which has no such env',
      'seed-name tasks/load.json: step \'load\': artifacts/b has data for "mail", and the env\'s servers are "a"',
    ],
  },
];
