import { describe, expect, test } from "vitest";
import { deployEnv } from "../../build-service/src/deploy/deploy.ts";
import { toolNames } from "../../build-service/src/deploy/mcp-tools.ts";
import { readRecord } from "../../build-service/src/deploy/record.ts";
import { deployOptions, docker, envOf, labelledNames, mcpServer, noEngine, testBed } from "./support.ts";

describe.skipIf(noEngine)("P4 the provider server", () => {
  test("P4 deploys one MCP server as one published container without a gateway, and leaves nothing", async () => {
    await using place = await testBed();
    const env = envOf([await mcpServer(place.store, "lone")], "server");

    const deployment = await deployEnv(deployOptions(env), place);
    const id = String(deployment.record.deployment_id);
    const { record } = deployment;

    expect(record).toMatchObject({
      status: "up",
      env_provider_type: "server",
      gateway_url: null,
      mcp_server_name: "lone",
      sandbox_type: "local",
      environment_card: { name: "lone" },
      website_frontend_urls: {},
    });
    expect(record.mcp_url).toMatch(/^http:\/\/127\.0\.0\.1:2\d{4}\/mcp$/);
    expect(await toolNames(String(record.mcp_url), place.signal)).toEqual(["lone_whoami"]);
    expect(await labelledNames(id)).toEqual([`/agent-env-${id}-lone`, `agent-env-${id}`]);

    expect(await deployment.placeFile("lone", "/data/new/seed.json", new TextEncoder().encode("[]"))).toBe(true);
    const placed = await docker.getContainer(`agent-env-${id}-lone`).infoArchive({ path: "/data/new/seed.json" });
    expect(placed.statusCode).toBe(200);

    expect(await deployment.teardown()).toEqual([]);
    expect(await labelledNames(id)).toEqual([]);
    expect(await readRecord(place.store, id)).toMatchObject({ status: "stopped", owner: null });
    expect(await place.store.local.projections.get(`deployment:${id}`)).toBeNull();
    expect(await deployment.teardown()).toEqual([]);
  });
});
