import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { deployEnv } from "../../build-service/src/deploy/deploy.ts";
import { toolNames } from "../../build-service/src/deploy/mcp-tools.ts";
import { PortPool } from "../../build-service/src/providers/sandbox/local/ports.ts";
import { until } from "../fixtures/until.ts";
import { deployOptions, docker, envOf, labelledNames, mcpServer, noEngine, testBed, website } from "./support.ts";

const PROGRAM = fileURLToPath(new URL("../../build-service/bin/agent-env.js", import.meta.url));

/** `agent-env gateway dev` over a state folder, until it is disposed of. */
async function edgeGateway(stateDir: string): Promise<{ url: string } & AsyncDisposable> {
  const port = await new PortPool().draw();
  const env = { ...process.env, AGENT_ENV_STATE_DIR: stateDir };
  const child = spawn(process.execPath, [PROGRAM, "gateway", "dev", "--port", String(port)], { env, stdio: "ignore" });
  const url = `http://localhost:${port}`;
  await until("the edge gateway answers", 60_000, async () => (await fetch(url)).status > 0);
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGINT");
      await once(child, "exit");
    },
  };
}

describe.skipIf(noEngine)("P4 behind the edge gateway", () => {
  test("P4 an env's servers are published, and are served at the deployment's path from the record in the store", async () => {
    await using place = await testBed();
    await using edge = await edgeGateway(place.stateDir);
    const env = envOf([await mcpServer(place.store, "items"), await website(place.store, "shop")]);

    const deployment = await deployEnv(deployOptions(env, { gateway: "edge" }), { ...place, edgeUrl: edge.url });
    const { record } = deployment;
    const id = String(record.deployment_id);
    const url = `${edge.url}/d/${id}`;

    expect(record).toMatchObject({ gateway_url: url, mcp_url: `${url}/mcp`, website_frontend_urls: { shop: `${url}/website/shop/` } });
    expect(record.servers.map((server) => server.url)).toEqual([
      expect.stringMatching(/^http:\/\/127\.0\.0\.1:2\d{4}$/),
      expect.stringMatching(/^http:\/\/127\.0\.0\.1:2\d{4}$/),
    ]);
    expect(await toolNames(String(record.mcp_url), place.signal)).toEqual(["list_website_urls", "items_whoami"]);
    const page = await fetch(String(record.website_frontend_urls["shop"]));
    expect(await page.text()).toContain("<h1>Welcome to shop</h1>");
    const containers = await docker.listContainers({ filters: { label: [`agent-env.deployment=${id}`] } });
    expect(containers.flatMap(({ Names }) => Names).sort()).toEqual(
      ["items", "shop-website-backend", "shop-website-frontend"].map((service) => `/agent-env-${id}-${service}`),
    );

    expect(await deployment.teardown()).toEqual([]);
    expect(await labelledNames(id)).toEqual([]);
    await until("the edge gateway says that it has ended", 10_000, async () => (await fetch(`${url}/health`)).status === 410);
  });
});
