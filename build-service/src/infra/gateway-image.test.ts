import { expect, test } from "vitest";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { recordingBuilder } from "../../../test/fixtures/recording-builder.ts";
import { pairOfSides } from "../store/sides.ts";
import { putNextVersion, readVersion } from "../store/versions.ts";
import { ensureGateway, gatewayEnvProblem, gatewayToWrite, putGateway } from "./gateway-image.ts";

const REST = { emit: () => {}, signal: new AbortController().signal, owner: "run" };

test("the setting chooses under which id the gateway is written and looked for", async () => {
  const store = memoryStore();
  const place = { store, gatewayEnvId: "team/gateway" };
  expect(await gatewayToWrite(place)).toBe("it is not in the store");
  const image = await ensureGateway({ ...place, ...REST, builder: recordingBuilder() });
  expect(image.id).toBe("team/gateway__env_image");
  expect(await readVersion(store, "env", "team/gateway", 1)).toMatchObject({
    type: "gateway_server",
    docker_image_artifact: { id: "team/gateway__env_image", version: 1 },
  });
  expect(await gatewayToWrite(place)).toBeNull();
  expect(await gatewayToWrite({ ...place, gatewayEnvId: "default" })).toBe("it is not in the store");
});

test("an env of another type under that id can't be the gateway", async () => {
  const store = memoryStore();
  await putNextVersion(store, "env", { id: "mine", type: "website" }, {});
  expect(await gatewayEnvProblem({ store, gatewayEnvId: "mine" })).toBe(
    "mine is an env of type website in the store, and [envs] default_gateway_env_id names it as the gateway's: name another there",
  );
  expect(await gatewayEnvProblem({ store, gatewayEnvId: "default" })).toBeNull();
});

test("one that isn't in a configured store is put there by hand, one of this machine is built by the run", async () => {
  const store = pairOfSides(memoryStore(), memoryStore());
  expect(await gatewayEnvProblem({ store, gatewayEnvId: "team/gateway" })).toBe(
    "the gateway's env, team/gateway, is not in the store that [stores] records names: agent-env env gateway put --id team/gateway",
  );
  expect(await gatewayEnvProblem({ store, gatewayEnvId: "@local/gateway" })).toBeNull();
});

test("one of a configured store is never written by a run, missing or another agent-env's, and is used once it was put", async () => {
  const store = pairOfSides(memoryStore(), memoryStore());
  const place = { store, gatewayEnvId: "team/gateway", ...REST };
  const run = () => ensureGateway({ ...place, builder: recordingBuilder() });
  const refused = (lack: string) =>
    expect.objectContaining({
      message: `the gateway's env, team/gateway, ${lack} in the store that [stores] records names`,
      why: "a run writes to this machine's store only",
      next: "agent-env env gateway put --id team/gateway",
    });
  await expect(run()).rejects.toEqual(refused("is not"));
  expect(await readVersion(store, "env", "team/gateway", 1)).toBeNull();

  const { env } = await putGateway(place, { platform: null, metadata: {} });
  expect(await gatewayEnvProblem(place)).toBeNull();
  expect((await run()).id).toBe("team/gateway__env_image");

  await putNextVersion(store, "env", { ...env, metadata: { build_inputs_sha256: "0".repeat(64) } }, {});
  expect(await gatewayEnvProblem(place)).toBe(
    "the gateway's env, team/gateway, is another agent-env's in the store that [stores] records names: agent-env env gateway put --id team/gateway",
  );
  await expect(run()).rejects.toEqual(refused("is another agent-env's"));
  expect(await readVersion(store, "env", "team/gateway", 3)).toBeNull();
});
