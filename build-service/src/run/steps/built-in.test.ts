import { describe, expect, test } from "vitest";
import { z } from "zod";
import { BUILT_IN_STEPS } from "./built-in.ts";

const MACHINE = { cpu: 1, memory_mb: 8192, ttl_seconds: 7200 };

/** The least that a step of each type says beside its id and type, and what is stored for it then. */
const LEAST: Readonly<Record<string, readonly [object, object]>> = {
  deploy_env: [{ env_id: "e" }, { env_id: "e", ttl_seconds: 7200, disk_size_gb: 10, gateway_mode: "performance" }],
  load_artifact: [
    { artifact_id: "a", sandbox_name: "s" },
    { artifact_id: "a", sandbox_name: "s" },
  ],
  modify_env_tool_access: [
    { env_id: "e", action: "disable", role: "user", tools: ["add"] },
    { env_id: "e", action: "disable", role: "user", tools: ["add"] },
  ],
  sync_env_clock: [
    { env_id: "e", virtual_time: "2026-03-01T09:00:00Z" },
    {
      env_id: "e",
      virtual_time: "2026-03-01T09:00:00Z",
      virtual_seconds_per_real_second: 1,
      tolerate_missing_sync_time: true,
      timeout_seconds: 30,
    },
  ],
  register_env_triggers: [
    { env_id: "e", triggers: [] },
    { env_id: "e", triggers: [], executor_timeout_seconds: 120, await_timeout_seconds: 120 },
  ],
  apply_server_config: [
    { env_id: "e", directives: [{ environment: "*", uri: "urn:x" }] },
    { env_id: "e", directives: [{ environment: "*", uri: "urn:x" }], timeout_seconds: 30, tolerate_unadvertised: false },
  ],
  reset_env: [{ env_id: "e" }, { env_id: "e" }],
  verify_env_card: [{ env_id: "e" }, { env_id: "e" }],
  verify_env_core_protocol: [{ env_id: "e" }, { env_id: "e" }],
  deploy_sandbox: [
    { sandbox_name: "s", sandbox_mode: "vm" },
    { sandbox_name: "s", sandbox_mode: "vm", exposed_ports: [], disk_size_gb: 10, ...MACHINE },
  ],
  run_docker_container: [
    { sandbox_name: "s", docker_context_artifact_id: "c" },
    {
      sandbox_name: "s",
      docker_context_artifact_id: "c",
      dockerfile_path: "Dockerfile",
      container_name: "task-container",
      keep_alive_with_base_command: false,
    },
  ],
  run_code: [{ script_artifact_id: "s" }, { script_artifact_id: "s", entrypoint: "run", args: {}, timeout_seconds: 600 }],
  teardown_sandboxes: [{}, { agent_names: [], env_ids: [], sandbox_names: [] }],
  deploy_agent: [{}, { env_ids: [], agent_name: "default-agent", env_vars: {}, skills: [], ...MACHINE }],
  prompt_agent: [
    { prompt: "hello" },
    {
      prompt: "hello",
      agent_name: "default-agent",
      timeout_seconds: 600,
      poll_interval_seconds: 2,
      max_conversation_turns: 1,
      user_agent_name: "human_agent",
      user_agent_timeout_seconds: 600,
    },
  ],
  peer_agents: [
    { peerings: [{ source_agent_name: "a", peer_agent_names: ["b"] }] },
    { peerings: [{ source_agent_name: "a", peer_agent_names: ["b"] }] },
  ],
  env_outcome_verifier: [
    { env_id: "e", file_artifact_id: "f" },
    { env_id: "e", file_artifact_id: "f", score_aggregator: "all_pass" },
  ],
  verify_sandbox: [{}, { criteria: [], base_dir: "/app", shell_timeout_seconds: 120, score_aggregator: "all_pass" }],
  agent_prompt_response_verifier: [{ prompt_id: "p" }, { prompt_id: "p", criteria: [], score_aggregator: "all_pass" }],
  rubrics_verifier: [
    { prompt_id: "p", criteria: [{ id: "c", text: "is right" }] },
    {
      prompt_id: "p",
      criteria: [{ id: "c", text: "is right" }],
      output_format: "rubric_binary",
      use_trajectory: true,
      score_aggregator: "all_pass",
    },
  ],
  run_container_unit_tests_verifier: [
    { sandbox_name: "s", container_name: "c", command: "pytest" },
    {
      sandbox_name: "s",
      container_name: "c",
      command: "pytest",
      setup_commands: [],
      user: "root",
      timeout_sec: 300,
      env_vars: {},
      result_paths: [],
    },
  ],
  aggregate_verifiers: [{ verifier_ids: ["v"] }, { verifier_ids: ["v"], score_aggregator: "weighted_average" }],
};

describe("a step that says the least", () => {
  test.each(BUILT_IN_STEPS.map((step) => [step.type, step] as const))(
    "of type %s is accepted, and stored with its defaults",
    (type, step) => {
      const [least, stored] = LEAST[type] ?? [{}, null];
      const raw = { id: "x", type, ...least };
      expect(step.problems(raw)).toEqual([]);
      expect(step.writeOut(raw)).toEqual(stored);
      expect(step.problems({ ...raw, ...step.writeOut(raw) })).toEqual([]);
    },
  );

  test("has a type of this list", () => {
    expect(Object.keys(LEAST).toSorted()).toEqual(BUILT_IN_STEPS.map(({ type }) => type).toSorted());
  });
});

test("the fields of every step type can be shown as a JSON schema, and each reference starts at one of them", () => {
  for (const { type, fields, entityRefs } of BUILT_IN_STEPS) {
    const schema = z.toJSONSchema(fields, { io: "input" });
    expect({ type, kind: schema.type }).toEqual({ type, kind: "object" });
    const starts = (entityRefs ?? [])
      .flatMap(({ path, versionPath }) => [path, versionPath ?? path])
      .map((path) => path.split(/[.[]/)[0] ?? "");
    expect({ type, unknown: starts.filter((start) => !(start in fields.shape)) }).toEqual({ type, unknown: [] });
  }
});

test("steps whose failure doesn't fail the task, where they don't say", () => {
  expect(BUILT_IN_STEPS.filter(({ failsTask }) => !failsTask).map(({ type }) => type)).toEqual(["reset_env", "teardown_sandboxes"]);
});

test("steps that this version runs, and what of them it doesn't yet", () => {
  const least = BUILT_IN_STEPS.map((step) => ({ step, raw: { ...LEAST[step.type]?.[0] } }));
  const runnable = least
    .filter(({ step, raw }) => !step.notRunYet(raw).includes(`a step of type ${step.type}`))
    .map(({ step }) => step.type);
  expect(runnable).toEqual(["deploy_env", "load_artifact", "env_outcome_verifier"]);
  const load = BUILT_IN_STEPS.find(({ type }) => type === "load_artifact");
  expect(load?.notRunYet({ artifact_id: "a", env_id: "e" })).toEqual([]);
  expect(load?.notRunYet({ artifact_id: "a", sandbox_name: "s" })).toEqual(["a load_artifact step with sandbox_name"]);
  expect(load?.notRunYet({ artifact_from_step_id: "x", agent_name: "a" })).toEqual([
    "a load_artifact step with agent_name",
    "a load_artifact step with artifact_from_step_id",
  ]);
});

describe("B5 a step is refused", () => {
  const cases: [string, object, string[]][] = [
    ["deploy_env", { env_state_type: "pg", env_state_instance_id: null }, ["env_state_type isn't supported yet: leave it out"]],
    ["deploy_env", { env_version: 0 }, ["env_version: expected more than 0, and found 0"]],
    ["load_artifact", { artifact_id: null }, ["names nothing to load: set artifact_id or artifacts"]],
    ["load_artifact", { artifacts: [{ id: "b" }] }, ["artifacts and artifact_id exclude each other: put all of them into artifacts"]],
    [
      "load_artifact",
      { artifact_from_step_id: "x" },
      ["artifact_from_step_id names all that is loaded: nothing else can be named beside it"],
    ],
    ["load_artifact", { agent_name: "a" }, ["agent_name and sandbox_name exclude each other: keep one"]],
    ["load_artifact", { sandbox_name: null }, ["names no target: set env_id, agent_name or sandbox_name"]],
    [
      "load_artifact",
      { sandbox_name: null, env_id: "e", urls: ["https://x.example/a"], container_name: "c" },
      ["urls can't be loaded into an env: name an artifact", "container_name is a container in a sandbox: set sandbox_name too"],
    ],
    ["load_artifact", { urls: [{ filename: "x" }] }, ["urls[0].url is missing: it takes a string"]],
    ["load_artifact", { snapshot_after_load: true }, ["snapshot_after_load isn't supported yet: leave it out"]],
    ["load_artifact", { snapshot_after_load: false }, []],
    ["modify_env_tool_access", { action: "drop" }, ['action: expected "disable" or "enable", and found "drop"']],
    ["sync_env_clock", { virtual_seconds_per_real_second: -1 }, ["virtual_seconds_per_real_second: expected 0 or more, and found -1"]],
    ["register_env_triggers", { triggers: {} }, ["triggers: expected a list, and found {}"]],
    [
      "apply_server_config",
      { directives: [{ uri: "urn:x" }] },
      ['directives[0] names no server: set service, to a server\'s name or to "*" for all MCP servers'],
    ],
    ["reset_env", { env_id: undefined }, ["env_id is missing: it takes a string"]],
    ["deploy_sandbox", { sandbox_mode: "micro" }, ['sandbox_mode: expected "vm" or "container", and found "micro"']],
    ["deploy_sandbox", { port: 70_000 }, ["port: expected 65535 or less, and found 70000"]],
    ["run_docker_container", { privileged: true }, ["privileged isn't supported yet: leave it out"]],
    [
      "run_docker_container",
      { docker_context_url: "u" },
      ["docker_context_artifact_id and docker_context_url exclude each other: keep one"],
    ],
    [
      "run_docker_container",
      { docker_context_artifact_id: undefined },
      ["names no build context: set docker_context_artifact_id or docker_context_url"],
    ],
    ["run_code", { env_id: "e", agent_name: "a" }, ["env_id and agent_name exclude each other: keep one"]],
    [
      "teardown_sandboxes",
      { fail_task_on_error: true },
      ["fail_task_on_error: true is of no use, since this step never fails: leave it out"],
    ],
    [
      "deploy_agent",
      { sandbox_name: "s", agent_snapshot_id: "x" },
      ["sandbox_name isn't supported yet: leave it out", "agent_snapshot_id isn't supported yet: leave it out"],
    ],
    ["deploy_agent", { env_vars: { A: 1 } }, ["env_vars.A: expected a string, and found 1"]],
    ["prompt_agent", { prompt: null }, ["names no prompt: set prompt or parts"]],
    ["prompt_agent", { parts: [{ kind: "text" }] }, ["prompt and parts exclude each other: keep one"]],
    ["prompt_agent", { max_conversation_turns: 0 }, ["max_conversation_turns: expected 1 or more, and found 0"]],
    [
      "peer_agents",
      {
        peerings: [
          { source_agent_name: "a", peer_agent_names: ["a"] },
          { source_agent_name: "a", peer_agent_names: [] },
        ],
      },
      ['peerings[0]: "a" is listed as its own peer', 'peerings[1]: "a" is listed twice: put its peers into one'],
    ],
    [
      "env_outcome_verifier",
      { score_aggregator: "mean" },
      ['score_aggregator: expected "all_pass" or "any_pass" or "weighted_average", and found "mean"'],
    ],
    ["verify_sandbox", { agent_name: "a", sandbox_name: "s" }, ["agent_name and sandbox_name exclude each other: keep one"]],
    [
      "agent_prompt_response_verifier",
      { criteria: [{ type: "response_is_nice" }] },
      ['criteria[0].type: expected "response_contains" or "response_regex_present", and found "response_is_nice"'],
    ],
    [
      "rubrics_verifier",
      { use_agent_judge: true, judge_model: "m", judge_batch_size: 2 },
      ["use_agent_judge isn't supported yet: leave it out", "judge_model isn't supported yet: leave it out"],
    ],
    ["run_container_unit_tests_verifier", { timeout_sec: 0 }, ["timeout_sec: expected more than 0, and found 0"]],
    ["aggregate_verifiers", { verifier_ids: [] }, ["verifier_ids: expected a list that isn't empty, and found []"]],
  ];
  test.each(cases)("%s with %j", (type, more, problems) => {
    const step = BUILT_IN_STEPS.find((candidate) => candidate.type === type);
    expect(step?.problems({ id: "x", type, ...LEAST[type]?.[0], ...more })).toEqual(problems);
  });
});
