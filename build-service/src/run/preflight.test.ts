import { problemLine } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { type FolderTree, temporaryFolder } from "../../../test/fixtures/folder.ts";
import { plan } from "../../../test/fixtures/make-bundle.ts";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { machinePlatform } from "../images/platform.ts";
import { NO_PLUGINS } from "../plugins/installed.ts";
import { processProvider } from "../providers/sandbox/process/provider.ts";
import type { SandboxProvider } from "../providers/sandbox/provider.ts";
import { SANDBOX_PROVIDERS } from "../providers/sandbox/registry.ts";
import { NO_PRESETS, sandboxesOf } from "../providers/sandbox/sandboxes.ts";
import { putNextVersion } from "../store/versions.ts";
import { chooseSandbox } from "./choose-sandbox.ts";
import { preflight } from "./preflight.ts";

const SERVER: FolderTree = {
  "envs/a/Dockerfile": `FROM node:24-slim\nCOPY . .\nCMD ["node", "x.js"]\n`,
  "envs/a/env.toml": 'environment_name = "a"\n',
  "envs/alone/Dockerfile": `FROM node:24-slim\nCMD ["node", "x.js"]\n`,
  "envs/alone/env.toml": 'environment_name = "alone"\nenv_provider_type = "server"\n',
  "envs/shop/Dockerfile.backend": 'FROM node:24-slim\nCMD ["node", "x.js"]\n',
  "envs/shop/Dockerfile.frontend": 'FROM node:24-slim\nCMD ["node", "x.js"]\n',
  "envs/shop/env.toml": 'type = "website"\nenvironment_name = "shop"\n',
  "artifacts/check/check.py": "def verify(mcp_url): return []\n",
  "artifacts/notes/notes.md": "no script\n",
};

const REST = { gateway: "container", auth: "open", gatewayEnvId: "default", python: "python3" } as const;

/** A provider like `process` that never can be used here, holds no website, and keeps nothing for long. */
const remote: SandboxProvider = {
  ...processProvider,
  capabilities: { ...processProvider.capabilities, name: "remote", websites: false, gateways: ["edge"], longestTtlSeconds: 3600 },
  unavailable: async () => ({ why: "REMOTE_TOKEN isn't set", next: "set it" }),
};
const why = '; the plugin "p" has one, and failed to load: no fuel';
const sandboxes = sandboxesOf([...SANDBOX_PROVIDERS, remote], NO_PRESETS, (name) => (name === "fly" ? why : ""));
const plugins = { ...NO_PLUGINS, sandboxes };

const UNKNOWN = (name: string) => `deploy-provider tasks/t.json: step 'deploy': sandbox_type ${JSON.stringify(name)} is not known`;
/** What `remote` can't hold of a deploy that sets nothing. */
const PLACE = (link: string) => [
  `deploy-option tasks/t.json: step 'deploy': ${link}ttl_seconds is 7200; it may be 60 to 3600 on remote`,
  `deploy-option tasks/t.json: step 'deploy': ${link}the sandbox remote has no container gateway: choose with --gateway edge, or another --sandbox`,
];

/** What is found in tasks of these steps, a line each, the bundle's ids without their root. */
async function found(tasks: Record<string, readonly object[]>, setting = "process"): Promise<string[]> {
  const files = Object.entries(tasks).map(([name, steps]) => [`tasks/${name}.json`, JSON.stringify(steps)]);
  using folder = temporaryFolder({ ...SERVER, ...Object.fromEntries(files) });
  const store = memoryStore();
  const planned = await plan({ folder: folder.path, store });
  const sandbox = await chooseSandbox({ option: null, setting }, sandboxes);
  const problems = await preflight({ plan: planned, store, plugins, sandbox, ...REST });
  return problems.map((problem) => `${problem.code} ${problemLine(problem)}`.replaceAll(`${planned.bundle.idRoot}/`, ""));
}

const deploy = (more: object = {}) => ({ id: "deploy", type: "deploy_env", env_id: "a", ...more });
const verify = (more: object = {}) => ({ id: "verify", type: "env_outcome_verifier", env_id: "a", file_artifact_id: "check", ...more });

describe("preflight", () => {
  test("finds nothing in a task that can run", async () => {
    expect(await found({ t: [deploy(), verify()] })).toEqual([]);
  });

  const cases: [string, readonly object[], string[]][] = [
    [
      "an env that no step before deploys",
      [verify()],
      ["deploy-target tasks/t.json: step 'verify': env_id: a isn't deployed by a step before it; no step before it deploys an env"],
    ],
    [
      "an env that is deployed twice",
      [deploy(), deploy({ id: "again" })],
      ["deploy-twice tasks/t.json: step 'again': a is deployed by step \"deploy\" already"],
    ],
    [
      "steps that are checked and stored only",
      [
        deploy({ retry_config: { retry_from_step_id: "deploy" } }),
        { id: "agent", type: "deploy_agent", env_ids: ["a"] },
        { id: "load", type: "load_artifact", artifact_id: "notes", agent_name: "default-agent" },
      ],
      [
        "deploy-step tasks/t.json: step 'deploy': this version checks and stores retry_config, and doesn't run it yet: leave it out, or run other tasks with --task",
        "deploy-step tasks/t.json: step 'agent': this version checks and stores a step of type deploy_agent, and doesn't run it yet: leave it out, or run other tasks with --task",
        "deploy-step tasks/t.json: step 'load': this version checks and stores a load_artifact step with agent_name, and doesn't run it yet: leave it out, or run other tasks with --task",
      ],
    ],
    [
      "a sandbox that isn't known",
      [deploy({ sandbox_type: "e2b" })],
      ["deploy-provider tasks/t.json: step 'deploy': sandbox_type \"e2b\" is not known; those there are: local, process, remote"],
    ],
    [
      "options out of their range, all at once",
      [deploy({ ttl_seconds: 5, cpu: 0, memory_mb: -1, gateway_mode: "fast" })],
      [
        "deploy-option tasks/t.json: step 'deploy': cpu is 0; it has to be more than 0",
        "deploy-option tasks/t.json: step 'deploy': memory_mb is -1; it has to be more than 0",
        "deploy-option tasks/t.json: step 'deploy': gateway_mode is \"fast\"; it may be performance or consistent",
        "deploy-option tasks/t.json: step 'deploy': ttl_seconds is 5; it may be 60 to 1209600 on process",
        "deploy-option tasks/t.json: step 'deploy': the sandbox process limits nothing, and cpu is set: leave it out",
        "deploy-option tasks/t.json: step 'deploy': the sandbox process limits nothing, and memory_mb is set: leave it out",
      ],
    ],
    [
      "an option that the env's provider doesn't take",
      [deploy({ env_id: "alone", gateway_mode: "consistent" })],
      ["deploy-env-provider tasks/t.json: step 'deploy': the env provider server doesn't take gateway_mode: leave it out"],
    ],
    [
      "a verifier of a suffix that nothing runs",
      [deploy(), verify({ file_artifact_id: "notes" })],
      ["deploy-verifier tasks/t.json: step 'verify': \"notes.md\": a verifier's file ends in .py, .ts, .mts, .js, .mjs"],
    ],
  ];
  test.each(cases)("refuses %s", async (_, steps, lines) => {
    expect(await found({ t: steps })).toEqual(lines);
  });

  test.each<[string, string, string[]]>([
    [
      "can't be used here",
      "remote",
      ["deploy-provider tasks/t.json: step 'deploy': the sandbox remote can't be used here: REMOTE_TOKEN isn't set; set it", ...PLACE("")],
    ],
    ["is written almost so", "Remote", [`${UNKNOWN("Remote")} (probably "remote"); those there are: local, process, remote`]],
    ["a plugin was to add", "fly", [`${UNKNOWN("fly")}; those there are: local, process, remote${why}`]],
    ["is the last of a chain", "process, fly", [`${UNKNOWN("fly")}; those there are: local, process, remote${why}`]],
    ["is named by nothing", "process,", [`${UNKNOWN("")}; those there are: local, process, remote`]],
  ])("refuses a sandbox that %s", async (_, sandbox_type, lines) => {
    expect(await found({ t: [deploy({ sandbox_type })] })).toEqual(lines);
  });

  test("refuses a chain when each of its links refuses, with the reasons of each", async () => {
    const chain = "remote,process";
    expect(await found({ t: [deploy({ sandbox_type: chain })] })).toEqual([]);
    expect(await found({ t: [deploy({ sandbox_type: chain, ttl_seconds: 1_209_601, gateway_mode: "fast" })] })).toEqual([
      "deploy-option tasks/t.json: step 'deploy': gateway_mode is \"fast\"; it may be performance or consistent",
      "deploy-provider tasks/t.json: step 'deploy': on remote: the sandbox remote can't be used here: REMOTE_TOKEN isn't set; set it",
      "deploy-option tasks/t.json: step 'deploy': on remote: ttl_seconds is 1209601; it may be 60 to 3600 on remote",
      ...PLACE("on remote: ").slice(1),
      "deploy-option tasks/t.json: step 'deploy': on process: ttl_seconds is 1209601; it may be 60 to 1209600 on process",
    ]);
  });

  test("B11.3 refuses a website where none runs, naming the sites", async () => {
    expect(await found({ t: [deploy({ env_id: "shop", sandbox_type: "remote", ttl_seconds: 60 })] })).toContain(
      "deploy-website tasks/t.json: step 'deploy': the sandbox remote runs no websites, and the env has shop",
    );
  });

  test("P3 refuses a Dockerfile that the process sandbox can't honour, with its line", async () => {
    using folder = temporaryFolder({
      ...SERVER,
      "envs/a/Dockerfile": `FROM node:24-slim\nRUN apt-get update\nCMD ["node", "x.js"]\n`,
      "tasks/t.json": JSON.stringify([deploy()]),
    });
    const store = memoryStore();
    const planned = await plan({ folder: folder.path, store });
    const [problem, ...others] = await preflight({
      plan: planned,
      store,
      plugins,
      sandbox: await chooseSandbox({ option: "process", setting: "auto" }, sandboxes),
      ...REST,
    });
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ code: "deploy-dockerfile", path: "tasks/t.json: step 'deploy'" });
    expect(problem?.message).toMatch(/^envs\/a \(Dockerfile image\): Dockerfile:2: RUN apt-get update/);
  });

  test("refuses to run an image from its source that is fixed to another platform, and one of this machine's it runs", async () => {
    using folder = temporaryFolder({ ...SERVER, "tasks/t.json": JSON.stringify([deploy()]) });
    const store = memoryStore();
    const sandbox = await chooseSandbox({ option: "process", setting: "auto" }, sandboxes);
    const on = async (platform: string) => {
      const planned = await plan({ folder: folder.path, store, platform });
      return preflight({ plan: planned, store, plugins, sandbox, ...REST });
    };
    expect(await on("windows/s390x")).toEqual([
      {
        code: "deploy-platform",
        path: "tasks/t.json: step 'deploy'",
        message: `envs/a (Dockerfile image): is for windows/s390x, and process runs it on this machine, which is ${machinePlatform()}: leave out what fixes it (--platform, [build] platform), or use --sandbox local`,
      },
    ]);
    expect(await on(machinePlatform())).toEqual([]);
  });

  test("refuses a Dockerfile that needs BuildKit before anything is built, with its line", async () => {
    using folder = temporaryFolder({
      ...SERVER,
      "envs/a/Dockerfile": "FROM node:24-slim\nRUN --mount=type=cache,target=/x true\n",
      "tasks/t.json": JSON.stringify([deploy()]),
    });
    const store = memoryStore();
    const planned = await plan({ folder: folder.path, store });
    const problems = await preflight({
      plan: planned,
      store,
      plugins,
      sandbox: await chooseSandbox({ option: "local", setting: "auto" }, sandboxes),
      ...REST,
    });
    // Whether an Engine answers is another problem.
    expect(problems.filter(({ code }) => code === "deploy-dockerfile")).toEqual([
      {
        code: "deploy-dockerfile",
        path: "tasks/t.json: step 'deploy'",
        message: "envs/a (Dockerfile image): Dockerfile: line 2: RUN --mount needs BuildKit, and the Engine's classic builder is used",
      },
    ]);
  });

  test("B11.4 tells a problem of several deploys once, with their number", async () => {
    const lines = await found({ a: [deploy({ ttl_seconds: 5 })], b: [deploy({ ttl_seconds: 5 })], c: [deploy({ ttl_seconds: 5 })] });
    expect(lines).toEqual([
      "deploy-option tasks/a.json: step 'deploy' (and 2 more deploys): ttl_seconds is 5; it may be 60 to 1209600 on process",
    ]);
  });

  test("an env that the configuration names as the gateway's, and that is none, once for all deploys that start one", async () => {
    const other = [deploy(), deploy({ id: "alone", env_id: "alone" })];
    using folder = temporaryFolder({ ...SERVER, "tasks/a.json": JSON.stringify(other), "tasks/b.json": JSON.stringify([deploy()]) });
    const store = memoryStore();
    await putNextVersion(store, "env", { id: "mine", type: "website" }, {});
    const planned = await plan({ folder: folder.path, store });
    const on = async (name: "local" | "process", gateway: "container" | "edge") => {
      const sandbox = await chooseSandbox({ option: name, setting: "auto" }, sandboxes);
      const problems = await preflight({ plan: planned, store, plugins, sandbox, ...REST, gateway, gatewayEnvId: "mine" });
      return problems.filter(({ code }) => code === "deploy-infra").map(problemLine);
    };
    expect(await on("local", "container")).toEqual([
      "tasks/a.json: step 'deploy' (and 1 more deploy): mine is an env of type website in the store, and [envs] default_gateway_env_id names it as the gateway's: name another there",
    ]);
    expect([await on("local", "edge"), await on("process", "container")]).toEqual([[], []]);
  });
});
