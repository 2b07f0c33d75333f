import { machinePlatform } from "../../../build-service/src/images/platform.ts";
import { deploying, multi, NOTHING_TO_RUN, named, type Refusal, seed, server, steps } from "./refusal.ts";

/** A refusal of a run that a check has nothing against. */
export type RunRefusal = Omit<Refusal, "run" | "prepare"> & { readonly options: readonly string[] };

const PROCESS = ["--sandbox", "process"] as const;
const LOCAL = ["--sandbox", "local"] as const;
const deploy = (id: string, more: object = {}) => ({ id, type: "deploy_env", env_id: "a", ...more });
const verify = (id: string, more: object = {}) => ({ id, type: "env_outcome_verifier", env_id: "a", file_artifact_id: "check", ...more });
const CHECK = { "artifacts/check/check.py": "def verify(mcp_url): return []\n" };
const dockerfile = (name: string, text: string) => ({ ...server(name), [`envs/${name}/Dockerfile`]: text });

/** What was asked for, and what there is to run (4-bundle §7.1, §8 run). */
export const RUN_SELECTION: readonly RunRefusal[] = [
  { name: "a bundle without tasks and evals", tree: server("a"), options: PROCESS, lines: [NOTHING_TO_RUN] },
  {
    name: "tasks and evals that aren't there",
    tree: { ...server("a"), ...deploying("a") },
    options: [...PROCESS, "--task", "none", "--task", "Run", "--eval", "nightly"],
    lines: [
      "no-selection --eval 'nightly': is not in this bundle: it has none",
      "no-selection --task 'Run': is not in this bundle, but \"run\" is: names are case-sensitive",
      "no-selection --task 'none': is not in this bundle: there are \"run\"",
    ],
  },
  {
    name: "an eval named as a task",
    tree: { ...server("a"), ...deploying("a"), "evals/all.toml": 'tasks = ["run"]\n' },
    options: [...PROCESS, "--task", "all"],
    lines: ["no-selection --task 'all': is not in this bundle: there are \"run\""],
  },
  {
    name: "a selection beside a problem of what it reaches",
    tree: { ...server("a", 'type = "nope"\n'), ...deploying("a") },
    options: [...PROCESS, "--task", "run", "--task", "x"],
    lines: [
      "no-selection --task 'x': is not in this bundle: there are \"run\"",
      'unknown-type envs/a: there is no env type "nope": known are mcp_server, multi, website',
    ],
  },
];

/** The preflight of 5-run §3, on a machine without Docker. */
export const RUN_PREFLIGHT: readonly RunRefusal[] = [
  {
    name: "no Engine, for one deploy",
    tree: { ...server("a"), ...deploying("a") },
    options: LOCAL,
    lines: [
      "deploy-engine tasks/run.json: step 'deploy a': no Docker Engine answers: nothing listens at unix:///nonexistent/docker.sock; start Docker, or set DOCKER_HOST; `agent-env doctor` says what is found; `--sandbox process` needs no Docker",
    ],
  },
  {
    name: "an image for another platform than this machine's, run from its source",
    tree: { ...server("a"), ...deploying("a") },
    options: [...PROCESS, "--platform", "linux/s390x"],
    lines: [
      `deploy-platform tasks/run.json: step 'deploy a': envs/a (Dockerfile image): is for linux/s390x, and process runs it on this machine, which is ${machinePlatform()}: leave out what fixes it (--platform, [build] platform), or use --sandbox local`,
    ],
  },
  {
    name: "no Engine, for many deploys, once",
    tree: { ...server("a"), ...server("b"), ...server("c"), ...server("d"), ...server("e"), ...deploying("a", "b", "c", "d", "e") },
    options: LOCAL,
    lines: [
      "deploy-engine tasks/run.json: step 'deploy a', tasks/run.json: step 'deploy b', tasks/run.json: step 'deploy c' and 2 more: no Docker Engine answers: nothing listens at unix:///nonexistent/docker.sock; start Docker, or set DOCKER_HOST; `agent-env doctor` says what is found; `--sandbox process` needs no Docker",
    ],
  },
  {
    name: "sandbox types that nobody has",
    tree: {
      ...server("a"),
      ...server("b"),
      ...steps(deploy("x", { sandbox_type: "e2b" }), deploy("y", { env_id: "b", sandbox_type: "Process" })),
    },
    options: [],
    lines: [
      "deploy-provider tasks/t.json: step 'x': sandbox_type \"e2b\" is not known; those there are: local, process",
      'deploy-provider tasks/t.json: step \'y\': sandbox_type "Process" is not known (probably "process"); those there are: local, process',
    ],
  },
  {
    name: "an option that the env's provider doesn't take",
    tree: { ...server("a", `${named("a")}env_provider_type = "server"\n`), ...steps(deploy("x", { gateway_mode: "consistent" })) },
    options: PROCESS,
    lines: ["deploy-env-provider tasks/t.json: step 'x': the env provider server doesn't take gateway_mode: leave it out"],
  },
  {
    name: "an artifact for an env type of a plugin",
    tree: { ...server("a"), ...CHECK, ...steps(deploy("x", { artifact_id: "check" })) },
    options: PROCESS,
    lines: [
      "deploy-env-provider tasks/t.json: step 'x': artifact_id is for env types of plugins, and mcp_server takes none: use a load_artifact step",
    ],
  },
  {
    name: "options out of range",
    tree: { ...server("a"), ...steps(deploy("x", { ttl_seconds: 59, cpu: 0, memory_mb: -1, disk_size_gb: 0, gateway_mode: "fast" })) },
    options: PROCESS,
    lines: [
      "deploy-option tasks/t.json: step 'x': cpu is 0; it has to be more than 0",
      "deploy-option tasks/t.json: step 'x': disk_size_gb is 0; it has to be more than 0",
      "deploy-option tasks/t.json: step 'x': gateway_mode is \"fast\"; it may be performance or consistent",
      "deploy-option tasks/t.json: step 'x': memory_mb is -1; it has to be more than 0",
      "deploy-option tasks/t.json: step 'x': the sandbox process limits nothing, and cpu is set: leave it out",
      "deploy-option tasks/t.json: step 'x': the sandbox process limits nothing, and memory_mb is set: leave it out",
      "deploy-option tasks/t.json: step 'x': ttl_seconds is 59; it may be 60 to 1209600 on process",
    ],
  },
  {
    name: "a time to live over the provider's longest",
    tree: { ...server("a"), ...steps(deploy("x", { ttl_seconds: 1_209_601 })) },
    options: PROCESS,
    lines: ["deploy-option tasks/t.json: step 'x': ttl_seconds is 1209601; it may be 60 to 1209600 on process"],
  },
  {
    name: "limits on a sandbox that limits nothing",
    tree: { ...server("a"), ...steps(deploy("x", { cpu: 1, memory_mb: 512 })) },
    options: PROCESS,
    lines: [
      "deploy-option tasks/t.json: step 'x': the sandbox process limits nothing, and cpu is set: leave it out",
      "deploy-option tasks/t.json: step 'x': the sandbox process limits nothing, and memory_mb is set: leave it out",
    ],
  },
  {
    name: "an env that is deployed twice",
    tree: { ...server("a"), ...steps(deploy("x"), deploy("y")) },
    options: PROCESS,
    lines: ["deploy-twice tasks/t.json: step 'y': <root>/a is deployed by step \"x\" already"],
  },
  {
    name: "data and a verifier for an env that isn't deployed",
    tree: {
      ...server("a"),
      ...server("b"),
      ...CHECK,
      ...seed("s", 'type = "environment"\nenvironment_name = "b"\n'),
      ...steps(deploy("x"), { id: "y", type: "load_artifact", env_id: "b", artifact_id: "s" }, verify("z", { env_id: "b" })),
    },
    options: PROCESS,
    lines: [
      "deploy-target tasks/t.json: step 'y' (and 1 more step): env_id: <root>/b isn't deployed by a step before it; deployed by then: <root>/a",
    ],
  },
  {
    name: "a verifier before its env is deployed",
    tree: { ...server("a"), ...CHECK, ...steps(verify("x"), deploy("y")) },
    options: PROCESS,
    lines: ["deploy-target tasks/t.json: step 'x': env_id: <root>/a isn't deployed by a step before it; no step before it deploys an env"],
  },
  {
    name: "a verifier of a suffix that nothing runs",
    tree: { ...server("a"), "artifacts/check/check.rb": "", ...steps(deploy("x"), verify("y")) },
    options: PROCESS,
    lines: ["deploy-verifier tasks/t.json: step 'y': \"check.rb\": a verifier's file ends in .py, .ts, .mts, .js, .mjs"],
  },
  {
    name: "lines of a Dockerfile that need an image",
    tree: {
      ...dockerfile("a", 'FROM node:24-slim\nRUN apt-get update && apt-get install -y git\nCMD ["node", "x.js"]\n'),
      ...dockerfile("b", "FROM node:24-slim AS build\nFROM node:24-slim\nCMD node x.js\n"),
      ...dockerfile("c", 'FROM node:24-slim\nADD https://example.com/x /x\nCMD ["node", "x.js"]\n'),
      ...dockerfile("d", "FROM nginx:stable\n"),
      ...deploying("a", "b", "c", "d"),
    },
    options: PROCESS,
    lines: [
      "deploy-dockerfile tasks/run.json: step 'deploy a': envs/a (Dockerfile image): Dockerfile:2: RUN apt-get update && apt-get install -y git: commands can't be run without Docker, only npm ci and npm install may be skipped",
      "deploy-dockerfile tasks/run.json: step 'deploy b': envs/b (Dockerfile image): Dockerfile:2: FROM node:24-slim: several stages can't be honoured without Docker",
      "deploy-dockerfile tasks/run.json: step 'deploy c': envs/c (Dockerfile image): Dockerfile:2: ADD https://example.com/x /x: a URL can't be fetched without Docker",
      "deploy-dockerfile tasks/run.json: step 'deploy d': envs/d (Dockerfile image): Dockerfile:1: FROM nginx:stable: neither CMD nor ENTRYPOINT says what to start, and the base image isn't asked",
      "deploy-dockerfile tasks/run.json: step 'deploy d': envs/d (Dockerfile image): Dockerfile:1: FROM nginx:stable: without Docker only Node, Python and Debian images and agent-env/sdk can be stood in for",
    ],
  },
  {
    name: "one problem at several deploys, once, with their number",
    tree: {
      ...server("a"),
      ...steps(deploy("x", { ttl_seconds: 5 })),
      "tasks/u.json": JSON.stringify([deploy("y", { ttl_seconds: 5 })]),
      "tasks/v.json": JSON.stringify([deploy("z", { ttl_seconds: 5 })]),
    },
    options: PROCESS,
    lines: ["deploy-option tasks/t.json: step 'x' (and 2 more deploys): ttl_seconds is 5; it may be 60 to 1209600 on process"],
  },
  {
    name: "several of one step",
    tree: {
      ...server("a"),
      "artifacts/check/check.rb": "",
      ...steps(deploy("x", { sandbox_type: "e2b" }), deploy("y", { ttl_seconds: 1, gateway_mode: "x" }), verify("z", { env_id: "b" })),
      ...server("b"),
    },
    options: [],
    lines: [
      "deploy-provider tasks/t.json: step 'x': sandbox_type \"e2b\" is not known; those there are: local, process",
      "deploy-twice tasks/t.json: step 'y': <root>/a is deployed by step \"x\" already",
      "deploy-option tasks/t.json: step 'y': gateway_mode is \"x\"; it may be performance or consistent",
      "deploy-option tasks/t.json: step 'y': ttl_seconds is 1; it may be 60 to 1209600 on process",
      "deploy-verifier tasks/t.json: step 'z': \"check.rb\": a verifier's file ends in .py, .ts, .mts, .js, .mjs",
      "deploy-target tasks/t.json: step 'z': env_id: <root>/b isn't deployed by a step before it; deployed by then: <root>/a",
    ],
  },
  {
    name: "an Engine that isn't there beside a verifier that nothing runs",
    tree: {
      ...server("a"),
      ...multi("m", 'mcp_server_envs = ["a"]\n'),
      "artifacts/check/check.rb": "",
      ...steps(deploy("x", { env_id: "m", ttl_seconds: 1 }), verify("y", { env_id: "m" })),
    },
    options: LOCAL,
    lines: [
      "deploy-engine tasks/t.json: step 'x': no Docker Engine answers: nothing listens at unix:///nonexistent/docker.sock; start Docker, or set DOCKER_HOST; `agent-env doctor` says what is found; `--sandbox process` needs no Docker",
      "deploy-option tasks/t.json: step 'x': ttl_seconds is 1; it may be 60 to 1209600 on local",
      "deploy-verifier tasks/t.json: step 'y': \"check.rb\": a verifier's file ends in .py, .ts, .mts, .js, .mjs",
    ],
  },
  {
    name: "a step that is checked and not run yet",
    tree: { ...server("a"), ...steps(deploy("x"), { id: "y", type: "verify_env_card", env_id: "a" }) },
    options: PROCESS,
    lines: [
      "deploy-step tasks/t.json: step 'y': this version checks and stores a step of type verify_env_card, and doesn't run it yet: leave it out, or run other tasks with --task",
    ],
  },
];
