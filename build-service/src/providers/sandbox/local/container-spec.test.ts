import { expect, test } from "vitest";
import { containerSpec } from "./container-spec.ts";

const labels = { "agent-env.deployment": "items-abcd1234" };
const common = { deploymentId: "items-abcd1234", imageId: "sha256:1", env: { A: "1" }, labels };

test("P1 a container has its limits, its labels, its name on the network, and no port that isn't published", () => {
  const service = { name: "items", port: 18765, restart: false };
  expect(containerSpec({ ...common, service, limits: { cpu: null, memoryMb: null }, hostPort: null })).toEqual({
    name: "agent-env-items-abcd1234-items",
    Image: "sha256:1",
    Env: ["A=1"],
    Labels: labels,
    ExposedPorts: { "18765/tcp": {} },
    HostConfig: {
      NetworkMode: "agent-env-items-abcd1234",
      PortBindings: {},
      RestartPolicy: { Name: "no" },
      Memory: 8_589_934_592,
      MemorySwap: 8_589_934_592,
      PidsLimit: 1024,
      SecurityOpt: ["no-new-privileges:true"],
      CapDrop: ["ALL"],
      CapAdd: ["CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID", "NET_BIND_SERVICE"],
    },
    NetworkingConfig: { EndpointsConfig: { "agent-env-items-abcd1234": { Aliases: ["items"] } } },
  });
});

test("P1 a published container listens on 127.0.0.1 only, and one that is to restart does so on failure", () => {
  const service = { name: "gateway", port: 18765, restart: true };
  const { HostConfig } = containerSpec({ ...common, service, limits: { cpu: 1.5, memoryMb: 512 }, hostPort: 23017 });
  expect(HostConfig).toMatchObject({
    PortBindings: { "18765/tcp": [{ HostIp: "127.0.0.1", HostPort: "23017" }] },
    RestartPolicy: { Name: "on-failure" },
    NanoCpus: 1_500_000_000,
    Memory: 536_870_912,
  });
});
