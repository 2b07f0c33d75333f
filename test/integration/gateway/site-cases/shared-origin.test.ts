import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { temporaryFolder } from "../../../fixtures/folder.ts";
import { removeNodeBundle, runNodeHost } from "../../../fixtures/gateway/node-host.ts";
import { recorder } from "../../../fixtures/gateway/recorder.ts";
import { until } from "../../../fixtures/until.ts";

afterAll(removeNodeBundle);

// what a Worker logs goes to the platform, where no test reads it
test("N5 a deployment whose sites share an origin says so once, also when it starts again", async () => {
  using folder = temporaryFolder();
  const server = await recorder();
  const outputOf = async (sites: readonly string[], state: string): Promise<string> => {
    const servers = sites.map((name) => ({ name, kind: "website", url: server.url, frontend_url: server.url }));
    const record = { deployment_id: "dep", revision: 1, name: "demo", auth: { mode: "open" }, servers };
    const env = {
      GATEWAY_RECORD: JSON.stringify(record),
      GATEWAY_STATE_FILE: join(folder.path, state),
      MCP_HOST: "127.0.0.1",
      MCP_PORT: "0",
    };
    const gateway = await runNodeHost(env);
    await until("the gateway is ready", 20_000, () => gateway.output().includes("ready\n"));
    gateway.child.kill("SIGKILL");
    await gateway.exited;
    return gateway.output();
  };
  const warning =
    "warning: under /website/ the sites shop, blog share one origin: what one stores or runs in a browser, the others reach; open sites that don't trust each other on hosts of their own\n";
  expect((await outputOf(["shop", "blog"], "two")).split(warning)).toHaveLength(2);
  expect(await outputOf(["shop", "blog"], "two")).not.toContain("share one origin");
  expect(await outputOf(["shop"], "one")).not.toContain("share one origin");
  await server.close();
});
