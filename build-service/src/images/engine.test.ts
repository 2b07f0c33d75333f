import { afterEach, describe, expect, test, vi } from "vitest";
import { engineProblem } from "./engine.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const NEXT = "start Docker, or set DOCKER_HOST; `agent-env doctor` says what is found; `--sandbox process` needs no Docker";

describe("N8 an Engine that doesn't answer", () => {
  test("at a socket that isn't there says so, and what to do", async () => {
    vi.stubEnv("DOCKER_HOST", "unix:///nowhere/docker.sock");
    expect(await engineProblem()).toEqual({ why: "nothing listens at unix:///nowhere/docker.sock", next: NEXT });
  });

  test("at a port that nobody listens on says so", async () => {
    vi.stubEnv("DOCKER_HOST", "tcp://127.0.0.1:9");
    expect(await engineProblem()).toEqual({ why: "nothing listens at tcp://127.0.0.1:9", next: NEXT });
  });

  test("under an address that is none names the variable", async () => {
    vi.stubEnv("DOCKER_HOST", "tcp://[");
    expect(await engineProblem()).toMatchObject({ next: "set it to unix:///path/to/docker.sock or tcp://host:port, or unset it" });
  });
});
