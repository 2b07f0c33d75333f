import { afterEach, describe, expect, test, vi } from "vitest";
import { ask, engineProblem } from "./engine.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const NEXT = "start Docker, or set DOCKER_HOST; `agent-env doctor` says what is found; `--sandbox process` needs no Docker";

/** An error as dockerode throws it. */
const engineError = (message: string, fields: object): Error => Object.assign(new Error(message), fields);

describe("N8 a call of the Engine", () => {
  test("that fails by a fault of its own says what it was for", async () => {
    const error = engineError("(HTTP code 500) server error - no space left on device ", { statusCode: 500 });
    await expect(ask("start the container items", Promise.reject(error))).rejects.toMatchObject({
      message: "the Docker Engine could not start the container items",
      why: "no space left on device",
      next: "mend that, then run the command again",
      cause: error,
    });
  });

  test.each([
    ["ECONNRESET", "tcp://engine took the connection and gave no answer"],
    ["EACCES", "tcp://engine may not be opened by this user"],
    ["ENOTFOUND", "tcp://engine: it went"],
  ])("that meets %s says where it was looked for", async (code, why) => {
    vi.stubEnv("DOCKER_HOST", "tcp://engine");
    const error = engineError("it went", { code });
    await expect(ask("pull it", Promise.reject(error))).rejects.toMatchObject({
      message: "the Docker Engine went away, asked to pull it",
      why,
      next: `${NEXT}; then \`agent-env gc\``,
      cause: error,
    });
  });

  test("gives any other answer as it is", async () => {
    const error = engineError("(HTTP code 404) no such container - x", { statusCode: 404 });
    await expect(ask("look", Promise.reject(error))).rejects.toBe(error);
  });
});

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
