import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { NO_DOCKER } from "../../fixtures/agent-env.ts";
import { CHECKED, PLUGIN, RUN, STORE } from "./cases.ts";
import { type DockerListener, dockerListener, emptyEngine } from "./docker-listener.ts";
import { checkedWith, plannedBeside, plannedUntouched, said } from "./refused.ts";

describe("B5 B7 refused without a store and without Docker, by a check and by a run alike", () => {
  let docker: DockerListener;
  beforeAll(async () => {
    docker = await dockerListener();
    vi.stubEnv("DOCKER_HOST", docker.dockerHost);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await docker.close();
  });

  describe.each(CHECKED)("$group", ({ cases }) => {
    test.each(cases)("$name", async (refusal) => {
      const run = refusal.run ?? refusal.lines;
      expect(await said(refusal, ["bundle", "check"])).toEqual({ lines: refusal.lines, exitCode: 1, traces: [] });
      expect(await said(refusal, ["run"], ["--sandbox", "process"])).toEqual({ lines: run, exitCode: 1, traces: [] });
      expect(await plannedUntouched(refusal)).toEqual(run);
      expect(docker.connections()).toBe(0);
    });
  });
});

describe("B5 refused with a plugin's types and providers", () => {
  test.each(PLUGIN)("$name", async (refusal) => {
    expect(await checkedWith(refusal)).toEqual(refusal.lines);
  });
});

describe("B5 refused for what the store holds, which is only read", () => {
  test.each(STORE)("$name", async (refusal) => {
    expect(await plannedBeside(refusal)).toEqual({ lines: refusal.lines, writes: [] });
  });

  test.each(STORE)("a check has nothing against it: $name", async ({ tree }) => {
    expect((await said({ tree }, ["bundle", "check"])).lines).toEqual([]);
  });
});

describe("refused before a run changes anything", () => {
  beforeAll(() => vi.stubEnv("DOCKER_HOST", NO_DOCKER.DOCKER_HOST));
  afterAll(() => vi.unstubAllEnvs());

  test.each(RUN)("$name", async (refusal) => {
    expect(await said(refusal, ["run"], refusal.options)).toEqual({ lines: refusal.lines, exitCode: 1, traces: [] });
  });
});

test("B7 what a preflight asks of an Engine it only reads", async () => {
  const engine = await emptyEngine();
  vi.stubEnv("DOCKER_HOST", engine.dockerHost);
  const refusal = RUN.find(({ name }) => name === "an Engine that isn't there beside a verifier that nothing runs");
  if (refusal === undefined) throw new Error("the case has another name");
  const planned = await said(refusal, ["bundle", "plan"], ["--sandbox", "local"]);
  vi.unstubAllEnvs();
  const withoutEngine = refusal.lines.filter((line) => !line.startsWith("deploy-engine "));
  expect(planned).toEqual({ lines: withoutEngine, exitCode: 1, traces: [] });
  expect(engine.requests().length).toBeGreaterThan(0);
  expect(engine.requests().filter((request) => !/^(GET|HEAD) /.test(request))).toEqual([]);
  await engine.close();
});
