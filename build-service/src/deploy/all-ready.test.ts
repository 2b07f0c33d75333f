import { createServer, type Server } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { deployContext } from "../../../test/fixtures/process-deploy.ts";
import type { Started } from "../providers/env/provider.ts";
import { allReady, type Check } from "./all-ready.ts";
import { attemptOf } from "./readiness.ts";

let server: Server;
let url: string;
let isReady: boolean;
beforeEach(async () => {
  isReady = false;
  server = createServer((_request, response) => response.writeHead(isReady ? 200 : 404).end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  url = `http://127.0.0.1:${address.port}`;
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

function check(budgetSeconds: number): Check {
  const probe = { name: "items", kind: "http", url, budgetSeconds } as const;
  return { service: "items", from: "here", name: probe.name, budgetSeconds, attempt: attemptOf(probe) };
}

/** A deploy whose one service runs, and has written nothing. Only what is asked of it while it is waited for is there. */
function startedWith(onEvent: (message: string) => void): Started {
  const asked = () => Promise.reject(new Error("this test starts nothing"));
  const env = {
    id: "me/items",
    version: 1,
    type: "mcp_server",
    shape: "mcp_server",
    provider: "gateway",
    name: null,
    servers: [],
  } as const;
  return {
    options: {
      env,
      sandbox: "process",
      gateway: "container",
      owner: "run-1",
      ttlSeconds: 60,
      cpu: null,
      memoryMb: null,
      gatewayMode: "performance",
      auth: "open",
      metadata: {},
    },
    context: {
      ...deployContext(memoryStore(), "/nonexistent"),
      emit: (event) => {
        if (event.kind === "wait") onEvent(`${event.entry}: ${event.message}`);
      },
    },
    deploymentId: "items-abcd1234",
    services: [],
    addresses: new Map(),
    session: {
      reserve: asked,
      start: asked,
      probeInside: async () => [],
      exited: async () => null,
      logs: async () => "",
      placeFile: asked,
      ids: [],
    },
    headers: {},
    publish: asked,
  };
}

describe("P1 a deploy that waits for a server", () => {
  test("says for which, and why, until it is ready", async () => {
    const said: string[] = [];
    const started = startedWith((message) => {
      said.push(message);
      isReady = message.endsWith("HTTP 404");
    });
    await allReady(started, [check(60)], 20);
    expect(said.join("\n")).toMatch(/^items-abcd1234: after \d+ s still waiting for items: HTTP 404$/m);
  });

  test("says nothing in its first seconds", async () => {
    const said: string[] = [];
    isReady = true;
    await allReady(
      startedWith((message) => said.push(message)),
      [check(60)],
    );
    expect(said).toEqual([]);
  });

  test("fails with its last reason, and a next step that fits a server which has written nothing", async () => {
    await expect(
      allReady(
        startedWith(() => {}),
        [check(0)],
      ),
    ).rejects.toMatchObject({
      message: expect.stringMatching(/^the process items is not ready \(probe items, after \d+\.\d s\): HTTP 404$/),
      why: "it has written nothing",
      next: "start it by itself and see that it answers, then deploy again",
    });
  });
});
