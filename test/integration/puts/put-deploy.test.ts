import { expect, test } from "vitest";
import { agentEnv, NO_DOCKER } from "../../fixtures/agent-env.ts";

test("P3 an env is put and deployed on a machine without Docker: a record names its source only", { timeout: 180_000 }, async () => {
  const cli = agentEnv(NO_DOCKER);
  try {
    const put = await cli.run("env", "mcp-server", "put", "--id", "greeter", "--dockerfile", "examples/hello/envs/greeter/Dockerfile");
    expect({ exitCode: put.exitCode, out: put.out.split("\n")[0] }).toEqual({ exitCode: 0, out: "greeter: env v1" });
    const deployed = await cli.run("env", "deploy", "--id", "greeter", "--sandbox", "process", "--json");
    expect(deployed.exitCode, deployed.out + deployed.err).toBe(0);
    const { deployment } = JSON.parse(deployed.out);
    expect(deployment).toMatchObject({ env_id: "greeter", env_version: 1, status: "up" });
    const stopped = await cli.run("env", "stop", deployment.deployment_id, "--json");
    expect(JSON.parse(stopped.out)).toMatchObject({ left_up: [] });
  } finally {
    cli.remove();
  }
});

test("P3 the gateway is put without Docker, and says that it isn't built", async () => {
  const cli = agentEnv(NO_DOCKER);
  try {
    const { exitCode, out, err } = await cli.run("env", "gateway", "put", "--id", "edge", "--platform", "linux/amd64", "--json");
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: "" });
    const { record, written } = JSON.parse(out);
    expect(record).toEqual({
      id: "edge",
      version: 1,
      type: "gateway_server",
      metadata: { agent_env_version: "0.1.0", build_inputs_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      docker_image_artifact: { id: "edge__env_image", version: 1, type: "docker_image" },
    });
    expect(written).toEqual([
      { kind: "artifact", id: "edge__env_image", version: 1, type: "docker_image" },
      { kind: "env", id: "edge", version: 1, type: "gateway_server" },
    ]);
    const text = await cli.run("env", "gateway", "put", "--id", "edge");
    expect(text).toMatchObject({ exitCode: 0, out: "edge: env v2\n" });
    expect(text.err).toBe(
      "edge: wrote the gateway, v2\nwarning: edge__env_image: not built yet, since no Docker Engine answers: nothing listens at unix:///nonexistent/docker.sock; the first run that needs it builds it\n",
    );
    const taken = await cli.run("env", "multi", "put", "--id", "edge");
    expect(taken.err).toContain('--id: "edge" is an env of type gateway_server in the store, and this is a multi');
  } finally {
    cli.remove();
  }
});
