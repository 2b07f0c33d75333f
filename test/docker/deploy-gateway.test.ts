import { type ChannelListener, subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { deployEnv } from "../../build-service/src/deploy/deploy.ts";
import { findLeftovers } from "../../build-service/src/deploy/gc.ts";
import { readKey } from "../../build-service/src/deploy/keys.ts";
import { getDeployment, listDeployments } from "../../build-service/src/deploy/list.ts";
import { toolNames } from "../../build-service/src/deploy/mcp-tools.ts";
import { stopDeployment } from "../../build-service/src/deploy/teardown.ts";
import { PortPool } from "../../build-service/src/providers/sandbox/local/ports.ts";
import { until } from "../fixtures/until.ts";
import { deployOptions, docker, envOf, labelledNames, mcpServer, noEngine, serverFiles, testBed, website } from "./support.ts";

describe.skipIf(noEngine)("P4 the provider gateway", () => {
  test("N4 asks callers for tokens where the deploy says so, and no container knows the key that signs them", async () => {
    await using place = await testBed();
    const env = envOf([await mcpServer(place.store, "items")]);
    const deployment = await deployEnv(deployOptions(env, { auth: "token" }), place);
    const id = String(deployment.record.deployment_id);
    const status = async (headers: Record<string, string> = {}) =>
      (await fetch(`${deployment.record.gateway_url}/state`, { headers })).status;
    expect([
      await status(),
      await status(await deployment.authorization("agent")),
      await status(await deployment.authorization("grader")),
    ]).toEqual([401, 403, 200]);
    const secret = (await readKey(place.stateDir, id))?.d ?? "no key";
    const containers = await docker.listContainers({ filters: { label: [`agent-env.deployment=${id}`] } });
    const inspected = await Promise.all(containers.map(({ Id }) => docker.getContainer(Id).inspect()));
    expect([containers.length, JSON.stringify(inspected).includes(secret)]).toEqual([2, false]);
    expect(await deployment.teardown()).toEqual([]);
    expect(await readKey(place.stateDir, id)).toBeNull();
  });

  test("P4 deploys an MCP server and a site behind one published gateway, and leaves nothing", async () => {
    await using place = await testBed();
    const env = envOf([await mcpServer(place.store, "items"), await website(place.store, "shop")]);

    const deployment = await deployEnv(deployOptions(env, { metadata: { deploy_step_id: "deploy" } }), place);
    const { record } = deployment;
    const id = String(record.deployment_id);
    const url = String(record.gateway_url);

    expect(record).toMatchObject({
      status: "up",
      env_id: "test/env",
      instance_id: `test/env-${id.slice(-8)}`,
      metadata: { deploy_step_id: "deploy" },
      sandbox_ids: [id],
      mcp_url: `${url}/mcp`,
      website_frontend_urls: { shop: `${url}/website/shop/` },
      auth: { mode: "open" },
      servers: [
        { name: "items", kind: "mcp", url: "http://items:18765", mcp_path: "/mcp" },
        {
          name: "shop",
          kind: "website",
          url: "http://shop-website-backend:8000",
          frontend_url: "http://shop-website-frontend:80",
          label: `shop--${id}`,
        },
      ],
    });
    expect(record.environment_card?.children_environments).toMatchObject([{ name: "items" }, { name: "shop" }]);
    expect(await toolNames(String(record.mcp_url), place.signal)).toEqual(["list_website_urls", "items_whoami"]);
    const page = await fetch(String(record.website_frontend_urls["shop"]));
    expect(await page.text()).toContain("<h1>Welcome to shop</h1>");

    const containers = await docker.listContainers({ all: true, filters: { label: [`agent-env.deployment=${id}`] } });
    const published = containers.filter(({ Ports }) => Ports.some(({ PublicPort }) => PublicPort !== undefined));
    expect(published.flatMap(({ Names }) => Names)).toEqual([`/agent-env-${id}-gateway`]);
    expect(published.flatMap(({ Ports }) => Ports.map(({ IP }) => IP))).toEqual(["127.0.0.1"]);

    expect(await getDeployment(place.store, String(record.instance_id))).toMatchObject({ deployment_id: id, status: "up" });
    const projected: unknown = JSON.parse(String(await place.store.local.projections.get(`deployment:${id}`)));
    expect(projected).toEqual({ revision: record.revision, record });

    expect(await stopDeployment(id, place)).toMatchObject({ record: { status: "stopped" }, leftUp: [] });
    expect(await labelledNames(id)).toEqual([]);
    expect(await listDeployments(place.store)).toMatchObject([{ deployment_id: id, status: "stopped" }]);
    expect(await findLeftovers(place)).toEqual([]);
  });

  test("P1 dials nothing but loopback: no bridge address from this machine", async () => {
    await using place = await testBed();
    const env = envOf([await mcpServer(place.store, "items"), await website(place.store, "shop")]);
    const dialled = new Set<string>();
    const listen = ({ socket }: { socket: Socket }): void => {
      socket.once("connect", () => {
        // The Engine's own local socket has no address; its client may also go on with one it opened before.
        if (socket.remoteAddress !== undefined) dialled.add(socket.remoteAddress);
      });
    };
    // Node's own channel of every client socket that this process opens.
    subscribe("net.client.socket", listen as ChannelListener);
    try {
      const deployment = await deployEnv(deployOptions(env), place);
      await deployment.teardown();
    } finally {
      unsubscribe("net.client.socket", listen as ChannelListener);
    }
    expect([...dialled]).toEqual(["127.0.0.1"]);
  });

  test("P4 an env in which two servers offer one tool is refused, naming both, and leaves nothing", async () => {
    await using place = await testBed();
    const find = 'env.tool("find", { description: "Finds.", run: () => "found" });';
    const env = envOf([
      await mcpServer(place.store, "crm", serverFiles("crm", find)),
      await mcpServer(place.store, "mail", serverFiles("mail", find)),
    ]);
    await expect(deployEnv(deployOptions(env), place)).rejects.toMatchObject({
      name: "UserError",
      message: "test/env: the tool find is offered by crm and mail",
      why: "callers name a tool without its server, so names must differ across an env",
    });
    expect(await labelledNames(deployedId(place.events))).toEqual([]);
  });

  test("B12 a server that ends at its start fails the deploy with its last lines, and leaves nothing", async () => {
    await using place = await testBed();
    const files = { Dockerfile: 'FROM debian:bookworm-slim\nCMD ["sh", "-c", "echo no database >&2; exit 7"]\n' };
    const env = envOf([await mcpServer(place.store, "broken", files)]);
    const deploy = deployEnv(deployOptions(env), place);
    await expect(deploy).rejects.toMatchObject({
      name: "UserError",
      message: expect.stringMatching(/^the container broken is not ready \(before any probe succeeded\): it has ended: exit code 7$/),
      why: "its last lines:\nno database",
      next: "mend what they name, then deploy again",
    });
    expect(await labelledNames(deployedId(place.events))).toEqual([]);
    expect(await listDeployments(place.store)).toEqual([]);
  });

  test("B12 a deploy that is interrupted ends with the reason, and leaves nothing", async () => {
    await using place = await testBed();
    const files = { Dockerfile: 'FROM debian:bookworm-slim\nCMD ["sleep", "600"]\n' };
    const env = envOf([await mcpServer(place.store, "silent", files)]);
    const reason = new Error("interrupted");
    const deploy = deployEnv(deployOptions(env), place).catch((error: unknown) => error);
    await until("the gateway runs, and waits for its server", 60_000, async () => {
      return (await labelledNames(deployedId(place.events))).some((name) => name.endsWith("-gateway"));
    });
    place.abort(reason);
    expect(await deploy).toBe(reason);
    expect(await labelledNames(deployedId(place.events))).toEqual([]);
  });

  test("a website on the provider server is refused before anything is started", async () => {
    await using place = await testBed();
    const env = { ...envOf([await website(place.store, "shop")], "server"), type: "website", shape: "website" as const };
    await expect(deployEnv(deployOptions(env), place)).rejects.toMatchObject({
      name: "UserError",
      message: "test/env: it can't be deployed",
      why: 'the provider "server" deploys one MCP server only, and this is of type website',
    });
    expect(place.events).toEqual([]);
  });
});

describe.skipIf(noEngine)("P4 the edge gateway", () => {
  test("that doesn't answer ends a deploy before anything is started", async () => {
    await using place = await testBed();
    const env = envOf([await mcpServer(place.store, "items")]);
    const edgeUrl = `http://127.0.0.1:${await new PortPool().draw()}`;
    const deploy = deployEnv(deployOptions(env, { gateway: "edge" }), { ...place, edgeUrl });
    await expect(deploy).rejects.toMatchObject({
      name: "UserError",
      message: `${edgeUrl}: no edge gateway answers`,
      why: "connection refused",
      next: "start it in another shell: `agent-env gateway dev`",
    });
    expect(place.events).toEqual([]);
  });
});

function deployedId(events: readonly { kind: string; entry?: string }[]): string {
  const id = events.find(({ kind }) => kind === "deploy")?.entry;
  if (id === undefined) throw new Error("no deploy was begun");
  return id;
}
