import { deploying, NOTHING_TO_RUN, type Refusal, server, steps } from "./refusal.ts";

const DOCKERFILE = 'FROM node:24-slim\nCOPY . .\nCMD ["node", "agent.js"]\n';
const agent = (name: string, toml: string) => ({ [`agents/${name}/Dockerfile`]: DOCKERFILE, [`agents/${name}/agent.toml`]: toml });
/** A task that reaches those agents. */
const using = (...agents: readonly string[]) =>
  steps(...agents.map((id) => ({ id: `deploy ${id}`, type: "deploy_agent", agent_name: id, a2a_agent_id: id })));

/** Agents (4-bundle §4.3). */
export const CHECK_AGENTS: readonly Refusal[] = [
  {
    name: "a key that an agent doesn't have",
    tree: { ...agent("a", 'card = "x"\n'), ...using("a") },
    lines: ['unknown-key agents/a: agent.toml: unknown key "card": a2a_agent takes image, default_env_vars, metadata, type, id'],
  },
  {
    name: "variables that are no strings",
    tree: { ...agent("a", "[default_env_vars]\nPORT = 1\nDEBUG = true\n"), ...using("a") },
    lines: [
      "agent-value agents/a: agent.toml: default_env_vars.DEBUG: expected a string, and found true",
      "agent-value agents/a: agent.toml: default_env_vars.PORT: expected a string, and found 1",
    ],
  },
  {
    name: "variables and metadata that are no tables",
    tree: { ...agent("a", 'default_env_vars = ["A=1"]\nmetadata = "fast"\n'), ...using("a") },
    lines: [
      'wrong-value agents/a: agent.toml: default_env_vars: expected a table, and found ["A=1"]',
      'wrong-value agents/a: agent.toml: metadata: expected a table, and found "fast"',
    ],
  },
  {
    name: "metadata with keys that nobody reads",
    tree: { ...agent("a", "[metadata]\nteam = 'x'\n"), ...agent("b", "[metadata]\ncost = 1\nspeed = 2\n"), ...using("a", "b") },
    lines: [
      'agent-value agents/a: agent.toml: metadata: unknown key "team": it takes default_model, min_disk_size_gb, takes_credentials',
      'agent-value agents/b: agent.toml: metadata: unknown keys "cost" and "speed": it takes default_model, min_disk_size_gb, takes_credentials',
    ],
  },
  {
    name: "metadata of a wrong kind",
    tree: { ...agent("a", "[metadata]\ndefault_model = 1\nmin_disk_size_gb = true\ntakes_credentials = 'no'\n"), ...using("a") },
    lines: [
      "agent-value agents/a: agent.toml: metadata.default_model: expected a string, and found 1",
      "agent-value agents/a: agent.toml: metadata.min_disk_size_gb: expected a number, and found true",
      'agent-value agents/a: agent.toml: metadata.takes_credentials: expected true or false, and found "no"',
    ],
  },
  {
    name: "an agent of another type",
    tree: { ...agent("a", 'type = "human_agent"\n'), ...using("a") },
    lines: ['unknown-type agents/a: there is no agent type "human_agent": known are a2a_agent'],
  },
  {
    name: "an agent without its Dockerfile",
    tree: { "agents/a/agent.toml": "", ...using("a") },
    lines: [
      'image-file agents/a: image: there is no file "Dockerfile" in this folder to build: add it, or name another with { dockerfile = … } or an image\'s id',
    ],
  },
  {
    name: "an env where an agent belongs, and the reverse",
    tree: {
      ...server("e"),
      ...agent("a", ""),
      ...steps({ id: "x", type: "deploy_agent", a2a_agent_id: "<root>/e" }, { id: "y", type: "deploy_env", env_id: "<root>/a" }),
    },
    lines: [
      "wrong-kind tasks/t.json: step 'x': a2a_agent_id: \"e\" is this bundle's env of type mcp_server (envs/e), and the field takes an agent",
      "wrong-kind tasks/t.json: step 'y': env_id: \"a\" is this bundle's agent of type a2a_agent (agents/a), and the field takes an env",
    ],
  },
  {
    name: "several of one agent and of an env",
    tree: {
      ...server("e", 'environment_name = ""\n'),
      ...agent("a", "port = 1\n[default_env_vars]\nA = 1\n[metadata]\nx = 1\n"),
      ...using("a"),
      ...deploying("e"),
    },
    lines: [
      "agent-value agents/a: agent.toml: default_env_vars.A: expected a string, and found 1",
      'agent-value agents/a: agent.toml: metadata: unknown key "x": it takes default_model, min_disk_size_gb, takes_credentials',
      'unknown-key agents/a: agent.toml: unknown key "port": a2a_agent takes image, default_env_vars, metadata, type, id',
      "empty-name envs/e: env.toml: environment_name: is empty: write the server's name, or leave the key out to take it from the card in its source",
    ],
  },
];

/** Steps of every type, as their types read them (5-run §8). */
export const CHECK_STEPS: readonly Refusal[] = [
  {
    name: "steps of agents",
    tree: steps(
      { id: "a", type: "deploy_agent", env_ids: "e", env_vars: { A: 1 }, cpu: "1" },
      { id: "b", type: "prompt_agent" },
      { id: "c", type: "prompt_agent", prompt: "hi", parts: [{ text: "hi" }], max_turns: 0 },
      { id: "d", type: "peer_agents", peerings: [{ source_agent_name: "x" }] },
    ),
    lines: [
      "bad-step tasks/t.json: step 'a': cpu: expected a number, and found \"1\"",
      "bad-step tasks/t.json: step 'a': env_ids: expected a list, and found \"e\"",
      "bad-step tasks/t.json: step 'a': env_vars.A: expected a string, and found 1",
      "bad-step tasks/t.json: step 'b': names no prompt: set prompt or parts",
      "bad-step tasks/t.json: step 'c': max_turns: expected 1 or more, and found 0",
      "bad-step tasks/t.json: step 'd': peerings[0].peer_agent_names is missing: it takes a list",
    ],
  },
  {
    name: "steps of sandboxes and code",
    tree: steps(
      { id: "a", type: "deploy_sandbox", sandbox_name: "s", sandbox_mode: "docker" },
      { id: "b", type: "deploy_sandbox", sandbox_mode: "vm", exposed_ports: [0, 70000] },
      { id: "c", type: "run_docker_container", sandbox_name: "s" },
      { id: "d", type: "run_code", script_artifact_id: "@local/x/y", env_id: "e", sandbox_name: "s" },
      { id: "e", type: "teardown_sandboxes", fail_task_on_error: true },
    ),
    lines: [
      'bad-step tasks/t.json: step \'a\': sandbox_mode: expected "vm" or "container", and found "docker"',
      "bad-step tasks/t.json: step 'b': exposed_ports[0]: expected 1 or more, and found 0",
      "bad-step tasks/t.json: step 'b': exposed_ports[1]: expected 65535 or less, and found 70000",
      "bad-step tasks/t.json: step 'b': sandbox_name is missing: it takes a string",
      "bad-step tasks/t.json: step 'c': names no build context: set docker_context_artifact_id or docker_context_url",
      "bad-step tasks/t.json: step 'd': env_id and sandbox_name exclude each other: keep one",
      "bad-step tasks/t.json: step 'e': fail_task_on_error: true is of no use, since this step never fails: leave it out",
    ],
  },
  {
    name: "steps of envs",
    tree: {
      ...server("e"),
      ...steps(
        { id: "a", type: "modify_env_tool_access", env_id: "e", action: "hide", role: "r", tools: "all" },
        { id: "b", type: "sync_env_clock", env_id: "e" },
        { id: "c", type: "register_env_triggers", env_id: "e", triggers: {} },
        { id: "d", type: "apply_server_config", env_id: "e", directives: [{ uri: 1 }] },
        { id: "f", type: "reset_env" },
      ),
    },
    lines: [
      'bad-step tasks/t.json: step \'a\': action: expected "disable" or "enable", and found "hide"',
      "bad-step tasks/t.json: step 'a': tools: expected a list, and found \"all\"",
      "bad-step tasks/t.json: step 'b': virtual_time is missing: it takes a string",
      "bad-step tasks/t.json: step 'c': triggers: expected a list, and found {}",
      "bad-step tasks/t.json: step 'd': directives[0].uri: expected a string, and found 1",
      "bad-step tasks/t.json: step 'f': env_id is missing: it takes a string",
    ],
  },
  {
    name: "steps that verify",
    tree: steps(
      { id: "a", type: "rubrics_verifier", prompt_id: "p", criteria: [{}], output_format: "stars" },
      { id: "b", type: "aggregate_verifiers" },
      { id: "c", type: "agent_prompt_response_verifier" },
      { id: "d", type: "run_container_unit_tests_verifier" },
      { id: "e", type: "verify_sandbox" },
    ),
    lines: [
      "bad-step tasks/t.json: step 'a': criteria[0].id is missing: it takes a string",
      'bad-step tasks/t.json: step \'a\': output_format: expected "rubric_binary" or "rubric_partial", and found "stars"',
      "bad-step tasks/t.json: step 'b': verifier_ids is missing: it takes a list",
      "bad-step tasks/t.json: step 'c': prompt_id is missing: it takes a string",
      "bad-step tasks/t.json: step 'd': command is missing: it takes a string",
      "bad-step tasks/t.json: step 'd': container_name is missing: it takes a string",
      "bad-step tasks/t.json: step 'd': sandbox_name is missing: it takes a string",
    ],
  },
  {
    name: "loads of nothing, to nowhere, and of too much",
    tree: {
      ...server("e"),
      ...steps(
        { id: "a", type: "load_artifact" },
        { id: "b", type: "load_artifact", env_id: "e", urls: ["https://example.com/x"] },
        { id: "c", type: "load_artifact", env_id: "e", sandbox_name: "s", artifact_from_step_id: "a", artifact_id: "@local/x/y" },
        { id: "d", type: "load_artifact", agent_name: "x", container_name: "c", artifact_id: "@local/x/y" },
      ),
    },
    lines: [
      "bad-step tasks/t.json: step 'a': names no target: set env_id, agent_name or sandbox_name",
      "bad-step tasks/t.json: step 'a': names nothing to load: set artifact_id or artifacts",
      "bad-step tasks/t.json: step 'b': urls can't be loaded into an env: name an artifact",
      "bad-step tasks/t.json: step 'c': artifact_from_step_id names all that is loaded: nothing else can be named beside it",
      "bad-step tasks/t.json: step 'c': env_id and sandbox_name exclude each other: keep one",
      "bad-step tasks/t.json: step 'd': container_name is a container in a sandbox: set sandbox_name too",
    ],
  },
  {
    name: "fields that aren't supported yet",
    tree: {
      ...server("e"),
      ...steps(
        { id: "a", type: "deploy_env", env_id: "e", env_state_type: "neon" },
        { id: "b", type: "deploy_agent", enable_docker: true },
        { id: "c", type: "prompt_agent", prompt: "hi", live_trajectory: true },
      ),
    },
    lines: [
      "bad-step tasks/t.json: step 'a': env_state_type isn't supported yet: leave it out",
      "bad-step tasks/t.json: step 'b': enable_docker isn't supported yet: leave it out",
      "bad-step tasks/t.json: step 'c': live_trajectory isn't supported yet: leave it out",
    ],
  },
  {
    name: "retries that resume nowhere, or at what is no ancestor",
    tree: {
      ...server("e"),
      ...steps(
        { id: "a", type: "deploy_env", env_id: "e" },
        { id: "b", type: "reset_env", env_id: "e", depends_on: [], retry_config: { retry_from_step_id: "a" } },
        { id: "c", type: "reset_env", env_id: "e", retry_config: { max_retries: -1 } },
        { id: "d", type: "reset_env", env_id: "e", retry_config: {} },
        { id: "f", type: "reset_env", env_id: "e", retry_config: { go_to_step_id: "gone" } },
      ),
    },
    lines: [
      "bad-task tasks/t.json: step 'b' retries from \"a\", which is neither the step itself nor one that it runs after",
      "bad-step tasks/t.json: step 'c': retry_config.max_retries: expected 0 or more, and found -1",
      "bad-step tasks/t.json: step 'd': retry_config names no step: set retry_from_step_id",
      "bad-task tasks/t.json: step 'f' retries from \"gone\", which is neither the step itself nor one that it runs after",
    ],
  },
];

/** Skills (4-bundle §4.5). */
export const CHECK_SKILLS: readonly Refusal[] = [
  {
    name: "a skill without front matter, and one whose block doesn't end",
    tree: { "skills/a/SKILL.md": "# Words\n", "skills/b/SKILL.md": "---\nname: b\ndescription: d\n" },
    lines: [
      "skill-md skills/a: SKILL.md: opens with no YAML between lines of ---, which must say the skill's name and description",
      "skill-md skills/b: SKILL.md: opens with no YAML between lines of ---, which must say the skill's name and description",
    ],
    run: [NOTHING_TO_RUN],
  },
  {
    name: "a skill without a name and a description",
    tree: { "skills/a/SKILL.md": "---\nlicense: MIT\n---\n" },
    lines: [
      "skill-md skills/a: SKILL.md: description is missing: it takes a string",
      "skill-md skills/a: SKILL.md: name is missing: it takes a string",
    ],
    run: [NOTHING_TO_RUN],
  },
  {
    name: "names that a skill can't have",
    tree: {
      "skills/Pdf/SKILL.md": "---\nname: Pdf\ndescription: d\n---\n",
      "skills/a--b/SKILL.md": "---\nname: a--b\ndescription: d\n---\n",
      "skills/-c/SKILL.md": "---\nname: -c\ndescription: d\n---\n",
    },
    lines: [
      "skill-md skills/-c: SKILL.md: name: expected 1 to 64 of a-z, 0-9 and -, without a - at an end and without two in a row",
      "skill-md skills/Pdf: SKILL.md: name: expected 1 to 64 of a-z, 0-9 and -, without a - at an end and without two in a row",
      "skill-md skills/a--b: SKILL.md: name: expected 1 to 64 of a-z, 0-9 and -, without a - at an end and without two in a row",
    ],
    run: [NOTHING_TO_RUN],
  },
  {
    name: "a name that isn't the folder's",
    tree: { "skills/pdf/SKILL.md": "---\nname: docx\ndescription: d\n---\n" },
    lines: ['skill-md skills/pdf: SKILL.md: name: "docx" is not the folder\'s name, "pdf": make them one'],
    run: [NOTHING_TO_RUN],
  },
  {
    name: "texts that are too long, empty or no texts",
    tree: {
      "skills/a/SKILL.md": `---\nname: a\ndescription: ${"x".repeat(1025)}\ncompatibility: ${"y".repeat(501)}\n---\n`,
      "skills/b/SKILL.md": "---\nname: b\ndescription: ''\nlicense: 1\nmetadata:\n  a: 1\n---\n",
    },
    lines: [
      "skill-md skills/a: SKILL.md: compatibility: has more than 500 characters",
      "skill-md skills/a: SKILL.md: description: has more than 1024 characters",
      "skill-md skills/b: SKILL.md: description: is empty: say what the skill is for",
      "skill-md skills/b: SKILL.md: license: expected a string, and found 1",
      "skill-md skills/b: SKILL.md: metadata.a: expected a string, and found 1",
    ],
    run: [NOTHING_TO_RUN],
  },
  {
    name: "front matter that is no YAML, or no mapping, and a key that nobody reads",
    tree: {
      "skills/a/SKILL.md": "---\nname: [a\n---\n",
      "skills/b/SKILL.md": "---\n- b\n---\n",
      "skills/c/SKILL.md": "---\nname: c\ndescription: d\nauthor: me\n---\n",
    },
    lines: [
      "skill-md skills/a: SKILL.md: what it opens with is no valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ] (line 3 column 1)",
      'skill-md skills/b: SKILL.md: what it opens with: expected an object, and found ["b"]',
    ],
    run: [NOTHING_TO_RUN],
  },
];
