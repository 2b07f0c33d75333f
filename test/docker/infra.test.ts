import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { OwnBase } from "../../build-service/src/images/bases-held.ts";
import { engineBuilder, SOURCE_LABEL } from "../../build-service/src/images/build.ts";
import { imageBuilder } from "../../build-service/src/infra/builder.ts";
import { ensureGateway, gatewaySource, gatewayToWrite } from "../../build-service/src/infra/gateway-image.ts";
import { sdkBase } from "../../build-service/src/infra/sdk-image.ts";
import { putNextVersion, readVersion } from "../../build-service/src/store/versions.ts";
import { docker, noEngine, storedImage, testBed } from "./support.ts";

const builder = imageBuilder();

describe.skipIf(noEngine)("B11.1 the gateway's image", () => {
  test("is written and built where it is missing, and a rerun writes and builds nothing", async () => {
    await using place = await testBed();
    const context = { ...place, builder, owner: "run-1" };
    expect(await gatewayToWrite(place)).toBe("it is not in the store");

    const image = await ensureGateway(context);
    const { digest } = await gatewaySource();
    expect(image).toMatchObject({ id: "default__env_image", version: 1, source_digest: digest });
    const env = await readVersion(place.store, "env", "default", 1);
    expect(env).toEqual({
      id: "default",
      version: 1,
      type: "gateway_server",
      metadata: { build_inputs_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      docker_image_artifact: { id: "default__env_image", version: 1, type: "docker_image" },
    });

    const before = await place.store.local.objects.list("");
    expect(await gatewayToWrite(place)).toBeNull();
    expect(await ensureGateway(context)).toEqual(image);
    expect(await place.store.local.objects.list("")).toEqual(before);
  });

  test("is written anew when the stored one was made from other sources", async () => {
    await using place = await testBed();
    const old = await storedImage(place.store, { Dockerfile: "FROM scratch\n" }, "default__env_image");
    await putNextVersion(place.store, "artifact", old, {});
    await putNextVersion(place.store, "env", gatewayEnv({ build_inputs_sha256: "0".repeat(64) }), {});
    expect(await gatewayToWrite(place)).toBe("this agent-env's image is not in the store");
    const image = await ensureGateway({ ...place, builder, owner: "run-1" });
    expect(image.version).toBe(2);
    expect(await readVersion(place.store, "env", "default", 2)).toMatchObject({ docker_image_artifact: { version: 2 } });
  });

  test("is written anew when the store has lost the image that its env names", async () => {
    await using place = await testBed();
    const { digest } = await gatewaySource();
    const madeFrom = createHash("sha256").update(`${digest}\0`).digest("hex");
    await putNextVersion(place.store, "env", gatewayEnv({ build_inputs_sha256: madeFrom }), {});
    expect(await gatewayToWrite(place)).toBe("this agent-env's image is not in the store");
    expect(await ensureGateway({ ...place, builder, owner: "run-1" })).toMatchObject({ version: 1, source_digest: digest });
    expect(await gatewayToWrite(place)).toBeNull();
  });

  test("of someone's own is used as it is", async () => {
    await using place = await testBed();
    const own = await storedImage(place.store, { Dockerfile: "FROM debian:bookworm-slim\n" }, "default__env_image");
    await putNextVersion(place.store, "artifact", own, {});
    await putNextVersion(place.store, "env", gatewayEnv({ by: "me" }), {});
    expect((await ensureGateway({ ...place, builder, owner: "run-1" })).source_digest).toBe(own.source_digest);
    expect(await readVersion(place.store, "env", "default", 2)).toBeNull();
  });
});

describe.skipIf(noEngine)("the base image of the SDK", () => {
  test("is made before the first build that names it", async () => {
    await using place = await testBed();
    const { emit, signal } = place;
    const record = await storedImage(place.store, { Dockerfile: "FROM agent-env/sdk:0.1.0\n" });
    const context = await place.store.local.objects.get(record.build_context_object_url.slice("r2:".length));
    const request = {
      entry: "envs/trial (Dockerfile image)",
      imageId: record.id,
      sourceDigest: record.source_digest,
      dockerfile: "Dockerfile",
      platform: null,
      tag: record.image_name,
      context: context?.bytes ?? new Uint8Array(),
    };
    const { bases, engineImageId } = await builder.build(request, emit, signal);
    await docker.getImage(engineImageId).remove({ force: true });
    expect(bases).toEqual(await builder.idsOf(["agent-env/sdk:0.1.0"]));
    const { Config } = await docker.getImage("agent-env/sdk:0.1.0").inspect();
    expect(Config.Labels[SOURCE_LABEL]).toMatch(/^[0-9a-f]{64}$/);
  });

  test("counts as another image once the SDK has changed", async () => {
    const outdated: OwnBase = {
      owns: (reference) => reference === "debian:bookworm-slim",
      make: async () => {},
      isCurrent: async () => false,
    };
    const held = await engineBuilder(docker, { ownBases: [], timeoutS: 60 }).idsOf(["debian:bookworm-slim", "none.invalid/none:1"]);
    expect(Object.keys(held)).toEqual(["debian:bookworm-slim"]);
    expect(await engineBuilder(docker, { ownBases: [outdated], timeoutS: 60 }).idsOf(["debian:bookworm-slim"])).not.toEqual(held);
    expect(await sdkBase.isCurrent("agent-env/sdk:0.1.0", { [SOURCE_LABEL]: "0".repeat(64) })).toBe(false);
  });

  test("of another version is refused with the one that there is", async () => {
    await using place = await testBed();
    const record = await storedImage(place.store, { Dockerfile: "FROM agent-env/sdk:9.9.9\n" });
    const context = await place.store.local.objects.get(record.build_context_object_url.slice("r2:".length));
    const build = builder.build(
      {
        entry: "envs/trial (Dockerfile image)",
        imageId: record.id,
        sourceDigest: record.source_digest,
        dockerfile: "Dockerfile",
        platform: null,
        tag: record.image_name,
        context: context?.bytes ?? new Uint8Array(),
      },
      place.emit,
      place.signal,
    );
    await expect(build).rejects.toMatchObject({
      message: "envs/trial (Dockerfile image): the base image agent-env/sdk:9.9.9 is not one that this agent-env makes",
      why: "it makes agent-env/sdk:0.1.0, with the SDK that it came with",
      next: "write FROM agent-env/sdk:0.1.0, or install the agent-env of that version",
    });
  });
});

function gatewayEnv(metadata: Record<string, unknown>) {
  const docker_image_artifact = { id: "default__env_image", version: 1, type: "docker_image" };
  return { id: "default", type: "gateway_server", metadata, docker_image_artifact };
}
