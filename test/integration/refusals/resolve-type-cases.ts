import { deploying, loading, named, type Refusal, seed, server, steps } from "./refusal.ts";

const deploy = (id: string, more: object = {}) => ({ id, type: "deploy_env", env_id: "a", ...more });

/** Types that aren't there (4-bundle §8 resolve). */
export const RESOLVE_TYPES: readonly Refusal[] = [
  {
    name: "an env type that nobody has",
    tree: { ...server("a", 'type = "mcp"\n'), ...deploying("a") },
    lines: ['unknown-type envs/a: there is no env type "mcp": known are mcp_server, multi, website'],
  },
  {
    name: "artifact types of the original, and a typo",
    tree: { ...server("a"), ...seed("b", 'type = "cli"\n'), ...seed("c", 'type = "enviroment"\n'), ...loading("a", "b", "c") },
    lines: [
      'unknown-type artifacts/b: there is no artifact type "cli": known are docker_image, environment, environment_universe, file, file_artifact_universe',
      'unknown-type artifacts/c: there is no artifact type "enviroment" (probably "environment"): known are docker_image, environment, environment_universe, file, file_artifact_universe',
    ],
  },
  {
    name: "an eval of another type",
    tree: { ...server("a"), ...deploying("a"), "evals/e.toml": 'tasks = ["run"]\ntype = "benchmark"\n' },
    lines: ['unknown-type evals/e.toml: there is no eval type "benchmark": known are eval'],
  },
  {
    name: "a step type with a typo, and one that isn't supported",
    tree: { ...server("a"), ...steps(deploy("x", { type: "deploy_evn" }), deploy("y", { type: "build_mcp_cli" })) },
    lines: [
      'unknown-type tasks/t.json: step \'x\': there is no step type "deploy_evn" (probably "deploy_env"): known are agent_prompt_response_verifier, aggregate_verifiers, apply_server_config, deploy_agent, deploy_env, deploy_sandbox, env_outcome_verifier, load_artifact, modify_env_tool_access, peer_agents, prompt_agent, register_env_triggers, reset_env, rubrics_verifier, run_code, run_container_unit_tests_verifier, run_docker_container, sync_env_clock, teardown_sandboxes, verify_env_card, verify_env_core_protocol, verify_sandbox',
      "unknown-type tasks/t.json: step 'y': \"build_mcp_cli\" is a step type of the original that isn't supported yet",
    ],
  },
  {
    name: "infrastructure as a folder",
    tree: { "envs/g/env.toml": 'type = "gateway_server"\n', "envs/s/env.toml": 'type = "service_db"\n', ...deploying("g", "s") },
    lines: [
      "infra-type envs/g: gateway_server is no type of a bundle's env: a run builds the one in use when it is missing; [envs] default_gateway_env_id chooses another",
      "infra-type envs/s: service_db is no type of a bundle's env: a run that needs one will build it, and none does yet; [envs] default_service_db_env_id, which will choose another, isn't used yet",
    ],
  },
  {
    name: "the original's computer_driver",
    tree: { "envs/c/env.toml": 'type = "computer_driver"\n', ...deploying("c") },
    lines: ['unknown-type envs/c: there is no env type "computer_driver": known are mcp_server, multi, website'],
  },
];

/** Image keys and the Dockerfiles that they build (4-bundle §4.2). */
export const RESOLVE_IMAGES: readonly Refusal[] = [
  {
    name: "an env without its Dockerfile",
    tree: { "envs/a/env.toml": named("a"), ...deploying("a") },
    lines: [
      'image-file envs/a: image: there is no file "Dockerfile" in this folder to build: add it, or name another with { dockerfile = … } or an image\'s id',
    ],
  },
  {
    name: "a website with neither of its Dockerfiles",
    tree: { "envs/a/env.toml": `type = "website"\n${named("a")}`, "envs/a/Dockerfile": "", ...deploying("a") },
    lines: [
      'image-file envs/a: backend_image: there is no file "Dockerfile.backend" in this folder to build: add it, or name another with { dockerfile = … } or an image\'s id',
      'image-file envs/a: frontend_image: there is no file "Dockerfile.frontend" in this folder to build: add it, or name another with { dockerfile = … } or an image\'s id',
    ],
  },
  {
    name: "a website with a Dockerfile in another spelling",
    tree: {
      "envs/a/env.toml": `type = "website"\n${named("a")}`,
      "envs/a/dockerfile.backend": "",
      "envs/a/Dockerfile.Frontend": "",
      ...deploying("a"),
    },
    lines: [
      'image-file envs/a: backend_image: there is no file "Dockerfile.backend" in this folder to build: dockerfile.backend is there, and names are case-sensitive',
      'image-file envs/a: frontend_image: there is no file "Dockerfile.frontend" in this folder to build: Dockerfile.Frontend is there, and names are case-sensitive',
    ],
  },
  {
    name: "a Dockerfile that isn't there, leads out, or is a folder",
    tree: {
      ...server("a", `image = { dockerfile = "docker/Dockerfile" }\n${named("a")}`),
      ...server("b", `image = { dockerfile = "../a/Dockerfile" }\n${named("b")}`),
      ...server("c", `image = { dockerfile = "/etc/hostname" }\n${named("c")}`),
      ...server("d", `image = { dockerfile = "sub" }\n${named("d")}`),
      "envs/d/sub/x": "",
      ...deploying("a", "b", "c", "d"),
    },
    lines: [
      'image-file envs/a: image: there is no file "docker/Dockerfile" in this folder to build: name a file of this folder, relative to it',
      'image-file envs/b: image: there is no file "../a/Dockerfile" in this folder to build: name a file of this folder, relative to it',
      'image-file envs/c: image: there is no file "/etc/hostname" in this folder to build: name a file of this folder, relative to it',
      'image-file envs/d: image: there is no file "sub" in this folder to build: what has that name is a folder, or leads out of this one',
    ],
  },
  {
    name: "a Dockerfile that is a link out of the folder",
    tree: { "envs/a/env.toml": named("a"), "envs/a/Dockerfile": ["/etc/hostname"], ...deploying("a") },
    lines: [
      'image-file envs/a: image: there is no file "Dockerfile" in this folder to build: what has that name is a folder, or leads out of this one',
    ],
  },
  {
    name: "keys beside dockerfile and ref",
    tree: {
      ...server("a", `image = { dockerfile = "Dockerfile", build_args = { A = "1" }, target = "x" }\n${named("a")}`),
      ...server("b", `image = { ref = "registry.example.com/team/crm:v1", platform = "linux/amd64" }\n${named("b")}`),
      ...deploying("a", "b"),
    },
    lines: [
      'image-keys envs/a: image: takes dockerfile and nothing beside it, and has "build_args" and "target": remove them',
      "image-ref envs/b: image: an image of a registry isn't supported yet: build one with { dockerfile = … }, or name one of the bundle or the store",
      'image-keys envs/b: image: takes ref and nothing beside it, and has "platform": remove it',
    ],
  },
  {
    name: "a Dockerfile that isn't in the folder, with keys beside it",
    tree: {
      ...server("a", `image = { dockerfile = "../x", build_args = {} }\n${named("a")}`),
      ...server("b", `image = { dockerfile = 1, target = "x" }\n${named("b")}`),
      ...deploying("a", "b"),
    },
    lines: [
      'image-keys envs/a: image: takes dockerfile and nothing beside it, and has "build_args": remove it',
      'image-file envs/a: image: there is no file "../x" in this folder to build: name a file of this folder, relative to it',
      'bad-ref envs/b: image: expected { dockerfile = "<path in this folder>" }, "<name or id>" or { artifact = "<name or id>", version = <whole number from 1> }, and found {"dockerfile":1,"target":"x"}',
      'image-keys envs/b: image: takes dockerfile and nothing beside it, and has "target": remove it',
    ],
  },
  {
    name: "an image of a registry",
    tree: { ...server("a", `image = { ref = "registry.example.com/team/crm:v1" }\n${named("a")}`), ...deploying("a") },
    lines: [
      "image-ref envs/a: image: an image of a registry isn't supported yet: build one with { dockerfile = … }, or name one of the bundle or the store",
    ],
  },
  {
    name: "image values of other kinds",
    tree: {
      ...server("a", `image = 1\n${named("a")}`),
      ...server("b", `image = ""\n${named("b")}`),
      ...server("c", `image = ["Dockerfile"]\n${named("c")}`),
      ...server("d", `image = { }\n${named("d")}`),
      ...server("e", `image = { dockerfile = 1 }\n${named("e")}`),
      ...server("f", `image = { artifact = "x", version = 0 }\n${named("f")}`),
      ...deploying("a", "b", "c", "d", "e", "f"),
    },
    lines: [
      'bad-ref envs/a: image: expected { dockerfile = "<path in this folder>" }, "<name or id>" or { artifact = "<name or id>", version = <whole number from 1> }, and found 1',
      'bad-ref envs/b: image: expected "<name or id>" or { artifact = "<name or id>", version = <whole number from 1> }, and found ""',
      'bad-ref envs/c: image: expected { dockerfile = "<path in this folder>" }, "<name or id>" or { artifact = "<name or id>", version = <whole number from 1> }, and found ["Dockerfile"]',
      'bad-ref envs/d: image: expected { dockerfile = "<path in this folder>" }, "<name or id>" or { artifact = "<name or id>", version = <whole number from 1> }, and found {}',
      'bad-ref envs/e: image: expected { dockerfile = "<path in this folder>" }, "<name or id>" or { artifact = "<name or id>", version = <whole number from 1> }, and found {"dockerfile":1}',
      'bad-ref envs/f: image: expected "<name or id>" or { artifact = "<name or id>", version = <whole number from 1> }, and found {"artifact":"x","version":0}',
    ],
  },
  {
    name: "an image folder without a Dockerfile",
    tree: { "artifacts/base/artifact.toml": 'type = "docker_image"\n', ...server("a", `image = "base"\n${named("a")}`), ...deploying("a") },
    lines: ["image-file artifacts/base: there is no Dockerfile in this folder to build: an artifact of type docker_image needs one"],
  },
];
