import { DeploymentRecord } from "@agent-env/protocol";
import { expect, test } from "vitest";
import { draftRecord, expiry, minuteUtc, newIdentity } from "./identity.ts";

test.each<[string, RegExp]>([
  ["@local/demo/Items", /^items-[a-z0-9]{8}$/],
  ["@local/demo/a--b_c", /^a-b-c-[a-z0-9]{8}$/],
  ["x/öäü ~", /^oau-[a-z0-9]{8}$/],
  ["x/日本", /^env-[a-z0-9]{8}$/],
  [`x/${"a".repeat(60)}`, /^a{24}-[a-z0-9]{8}$/],
])("the deployment of %s has an id that is one DNS label without --", (id, label) => {
  const { deploymentId, instanceId } = newIdentity({ id, name: null });
  expect(deploymentId).toMatch(label);
  expect(instanceId).toBe(`${id}-${deploymentId.slice(-8)}`);
});

test("a multi's name is the gateway's; without one it is drawn", () => {
  expect(newIdentity({ id: "suite", name: "mine" }).name).toBe("mine");
  expect(newIdentity({ id: "suite", name: null }).name).toMatch(/^env[1-9]\d{3}$/);
});

test("an expiry is written to the second, and in the original's form", () => {
  const at = new Date("2026-03-01T09:00:07.123Z");
  expect(expiry(at)).toEqual({ expires_at: "2026-03-01T09:00:07Z", expires_at_utc: "2026-03-01 09:00 UTC" });
  expect(minuteUtc(at)).toBe("2026-03-01 09:00 UTC");
});

test("a draft is a whole record in open mode, owned by its run", () => {
  const env = { id: "items", version: 3, type: "mcp_server", shape: "mcp_server", provider: "gateway", name: null, servers: [] } as const;
  const options = {
    env,
    sandbox: "local",
    gateway: "container",
    owner: "run-1",
    ttlSeconds: 60,
    cpu: null,
    memoryMb: null,
    gatewayMode: "consistent",
    auth: "open",
    metadata: { deploy_step_id: "d" },
  } as const;
  const identity = { deploymentId: "items-abcd1234", instanceId: "items-abcd1234", name: "env1234" };
  const draft = draftRecord(options, identity, { auth: { mode: "open" }, expiresAt: new Date("2026-03-01T09:00:00Z") });
  expect(DeploymentRecord.parse(draft)).toEqual(draft);
  expect(draft).toMatchObject({
    deployment_id: "items-abcd1234",
    revision: 0,
    status: "up",
    owner: "run-1",
    auth: { mode: "open" },
    env_id: "items",
    env_version: 3,
    gateway_mode: "consistent",
    sandbox_type: "local",
    expires_at: "2026-03-01T09:00:00Z",
    metadata: { deploy_step_id: "d" },
  });
});
