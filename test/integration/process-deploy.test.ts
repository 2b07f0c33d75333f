import { readdirSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "@agent-env/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deployEnv } from "../../build-service/src/deploy/deploy.ts";
import type { Deployment } from "../../build-service/src/deploy/deployment.ts";
import { processProvider } from "../../build-service/src/providers/sandbox/process/provider.ts";
import { runVerifier } from "../../build-service/src/run/verifiers/script.ts";
import { openLocalStore } from "../../build-service/src/store/local.ts";
import type { Store } from "../../build-service/src/store/store.ts";
import { deployOptions, envOf, mcpServer, website } from "../docker/support.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { deployContext } from "../fixtures/process-deploy.ts";

let folder: ReturnType<typeof temporaryFolder>;
let store: Store;
let context: ReturnType<typeof deployContext>;

beforeAll(async () => {
  folder = temporaryFolder();
  store = await openLocalStore(folder.path, "write");
  context = deployContext(store, folder.path);
});
afterAll(async () => {
  for (const { deploymentId } of await processProvider.labelled(context)) await processProvider.remove(deploymentId, context);
  await store.close();
  folder[Symbol.dispose]();
});

function verified(deployment: Deployment, script: string): Promise<unknown> {
  return runVerifier({
    script: Buffer.from(script),
    filename: "check.ts",
    mcpUrl: deployment.record.mcp_url ?? "",
    gatewayUrl: deployment.record.gateway_url,
    envView: {},
    run: null,
    python: "python3",
    timeoutMs: 20_000,
    memoryMb: 512,
    signal: context.signal,
    onLog: () => {},
    onCall: () => {},
  });
}

describe("P3 an env runs as processes of this machine, without Docker", () => {
  test("P4 behind the gateway: its tools, its pages, and nothing left after the teardown", async () => {
    const env = envOf([await mcpServer(store, "items"), await website(store, "shop")]);
    const deployment = await deployEnv(deployOptions(env, { sandbox: "process" }), context);
    const script = `
      export const verify = async (_url: string, ctx: any) => [
        { id: "tools", result: (await ctx.listTools()).some((tool: { name: string }) => tool.name === "items_whoami") },
        { id: "call", result: (await ctx.callTool("items_whoami")).isError !== true },
        { id: "page", result: (await (await ctx.fetch("/website/shop/")).text()).includes("Welcome to shop") },
        { id: "api", result: (await ctx.fetch("/svc/mcp-items/.well-known/agent-env.json")).status === 200 },
      ];`;
    expect(await verified(deployment, script)).toEqual([
      { id: "tools", result: true },
      { id: "call", result: true },
      { id: "page", result: true },
      { id: "api", result: true },
    ]);
    expect(await deployment.logs("items", 5)).not.toBe("");
    expect(deployment.record.sandbox_type).toBe("process");
    expect(await deployment.teardown()).toEqual([]);
    expect(await processProvider.labelled(context)).toEqual([]);
    expect(readdirSync(join(folder.path, "deployments"))).toEqual([]);
  });

  test("G9 the gateway is told what the operator has set", async () => {
    const env = envOf([await mcpServer(store, "items")]);
    const options = deployOptions(env, { sandbox: "process" });
    const deployment = await deployEnv(options, { ...context, gatewaySettings: { GATEWAY_SERVER_TIMING: "on" } });
    const { headers } = await fetch(`${deployment.record.gateway_url}/state`);
    expect(headers.get("server-timing")).toMatch(/^gateway;dur=/);
    expect(await deployment.teardown()).toEqual([]);
  });

  test("P4 one MCP server without a gateway", async () => {
    const env = envOf([await mcpServer(store, "items")], "server");
    const deployment = await deployEnv(deployOptions(env, { sandbox: "process" }), context);
    const script = `export const verify = async (_url: string, ctx: any) => [{ result: (await ctx.callTool("items_whoami")).isError !== true }]`;
    expect(await verified(deployment, script)).toEqual([{ result: true }]);
    expect(await deployment.teardown()).toEqual([]);
  });

  test("B6 options that would be dropped are refused, as the preflight refuses them", async () => {
    const env = envOf([await mcpServer(store, "items")], "server");
    const deploying = deployEnv(deployOptions(env, { sandbox: "process", memoryMb: 64, gatewayMode: "consistent" }), context);
    await expect(deploying).rejects.toMatchObject({
      message: "test/env: it can't be deployed with these options",
      why: "the sandbox process limits nothing, and memory_mb is set: leave it out\nthe env provider server doesn't take gateway_mode: leave it out",
    });
    expect(await processProvider.labelled(context)).toEqual([]);
  });

  test("a server that ends at its start fails the deploy with its log, and leaves nothing", async () => {
    const server = await mcpServer(store, "broken", {
      Dockerfile: 'FROM node:24\nCOPY . .\nCMD ["node", "x.js"]\n',
      "x.js": "console.error('no seed'); process.exit(3)",
    });
    const deploying = deployEnv(deployOptions(envOf([server]), { sandbox: "process" }), context);
    const error = await deploying.then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(UserError);
    expect(String(error)).toMatch(/the process broken is not ready \(before any probe succeeded\): it has ended: exit code 3/);
    expect(error).toMatchObject({ why: "its last lines:\nno seed" });
    expect(await processProvider.labelled(context)).toEqual([]);
  });
});
