import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { imageBuilder } from "../../build-service/src/infra/builder.ts";
import { PortPool } from "../../build-service/src/providers/sandbox/local/ports.ts";
import { localProvider } from "../../build-service/src/providers/sandbox/local/provider.ts";
import { LocalSession } from "../../build-service/src/providers/sandbox/local/session.ts";
import type { Service } from "../../build-service/src/providers/sandbox/provider.ts";
import { docker, labelledNames, noEngine, storedImage, testBed } from "./support.ts";

const FILES = { Dockerfile: 'FROM debian:bookworm-slim\nLABEL agent-env.site.prefix=keep\nRUN mkdir -m 700 /data\nCMD ["sleep", "600"]\n' };

describe.skipIf(noEngine)("P1 a container of the local provider", () => {
  test("P1 starts on another port when the reserved one was taken meanwhile, and its address says so", async () => {
    await using place = await testBed();
    const deploymentId = `session-${Math.random().toString(36).slice(2, 10).padEnd(8, "0")}`;
    const spec = { deploymentId, owner: "run-test", expiresAt: "2100-01-01T00:00:00Z", cpu: 0.5, memoryMb: 64 };
    await localProvider.open(spec, place);
    const ports = new PortPool({ first: 29_990, last: 29_999 });
    const session = new LocalSession(spec, place, { docker, builder: imageBuilder(), ports });
    const service: Service = {
      name: "one",
      role: "mcp",
      server: "one",
      image: await storedImage(place.store, FILES, "test/session"),
      port: 18765,
      published: true,
      restart: false,
    };

    const addresses = await session.reserve([service]);
    expect(await session.imageLabels("one")).toMatchObject({ "agent-env.site.prefix": "keep" });
    const reserved = addresses.get("one")?.outside;
    const taker = createServer();
    await new Promise<void>((resolve) => taker.listen(Number(new URL(String(reserved)).port), "127.0.0.1", resolve));
    try {
      await session.start(service, { A: "1" });
    } finally {
      taker.close();
    }
    const settled = addresses.get("one")?.outside;
    expect(settled).not.toBe(reserved);

    const name = `agent-env-${deploymentId}-one`;
    const { HostConfig, NetworkSettings, State } = await docker.getContainer(name).inspect();
    expect(State.Running).toBe(true);
    expect(NetworkSettings.Ports["18765/tcp"]).toEqual([{ HostIp: "127.0.0.1", HostPort: new URL(String(settled)).port }]);
    expect(HostConfig).toMatchObject({ Memory: 67_108_864, NanoCpus: 500_000_000, PidsLimit: 1024, CapDrop: ["ALL"] });
    expect(await session.exited("one")).toBeNull();

    // A folder of the image keeps its mode.
    expect(await session.placeFile("one", "/data/deep/seed.json", new TextEncoder().encode("[1]"))).toBe(true);
    const [data, seed] = await Promise.all(["/data", "/data/deep/seed.json"].map((path) => statOf(name, path)));
    expect([data?.mode, seed?.mode, seed?.size]).toEqual([0o700, 0o644, 3]);

    expect(await localProvider.remove(deploymentId, place)).toEqual([]);
    expect(await labelledNames(deploymentId)).toEqual([]);
    expect(await session.exited("one")).toBe("its container is gone");
  });

  test("P1 that can't be started is an error of its image", async () => {
    await using place = await testBed();
    const deploymentId = `session-${Math.random().toString(36).slice(2, 10).padEnd(8, "0")}`;
    const spec = { deploymentId, owner: "run-test", expiresAt: "2100-01-01T00:00:00Z", cpu: null, memoryMb: 64 };
    const session = await localProvider.open(spec, place);
    const image = await storedImage(place.store, { Dockerfile: 'FROM scratch\nCOPY . /\nCMD ["/nosuch"]\n' }, "test/nosuch");
    const service: Service = { name: "one", role: "mcp", server: "one", image, port: 18765, published: true, restart: false };
    await session.reserve([service]);
    await expect(session.start(service, {})).rejects.toMatchObject({
      name: "UserError",
      message: "one: its container does not start",
      why: expect.stringContaining("/nosuch"),
      next: "mend its image's start command, then deploy again",
    });
  });
});

/** What the Engine says of a file in a container: Go's mode bits, of which the lowest nine are the permissions. */
async function statOf(container: string, path: string): Promise<{ mode: number; size: number }> {
  const answer = await docker.getContainer(container).infoArchive({ path });
  const stat = JSON.parse(Buffer.from(answer.headers["x-docker-container-path-stat"], "base64").toString());
  return { mode: stat.mode & 0o777, size: stat.size };
}
