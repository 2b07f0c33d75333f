import { fileURLToPath } from "node:url";
import type { ConformanceReport } from "@agent-env/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mustRun } from "../../scripts/setup/command.ts";
import { interopPython } from "../../scripts/setup/python.ts";
import { checkedByKit, outcomesIn } from "../fixtures/conformance-kit.ts";
import { type ItemsAndShop, itemsAndShop, originalGateway } from "../fixtures/interop/original-environments.ts";
import { type ServerProcess, startServer } from "../fixtures/interop/server-process.ts";
import { SEED } from "../fixtures/mutants/kiosk.ts";
import { servedKiosk } from "../fixtures/mutants/mutation.ts";
import { conformanceEnvironment } from "../fixtures/sdk/conformance-environment.ts";

const VALIDATORS = fileURLToPath(new URL("../fixtures/mutants/original-validators.py", import.meta.url));

describe("W5 the kit and servers written with the original's SDK", () => {
  let servers: ItemsAndShop;
  let gateway: ServerProcess;
  beforeAll(async () => {
    servers = await itemsAndShop("the original's SDK");
    gateway = await originalGateway(servers);
  });
  afterAll(async () => {
    await gateway.stop();
    await servers.stop();
  });

  test("an MCP server passes all that is required", async () => {
    const report = await checked(servers.items.url);
    expect({ conforms: report.conforms, failed: failedIn(report) }).toEqual({
      conforms: true,
      failed: ["data-method-type", "data-seed-file"],
    });
  });

  test("a website with tools passes all that is required", async () => {
    const report = await checked(servers.shop.url);
    expect({ conforms: report.conforms, failed: failedIn(report) }).toEqual({ conforms: true, failed: ["data-method-type"] });
  });

  test("of the original's gateway it names what it lets through", async () => {
    const { subjects } = await checked(gateway.url);
    expect(subjects.map(({ kind, name, checks }) => ({ kind, name, failed: failedIn({ subjects: [{ checks }] }) }))).toEqual([
      { kind: "gateway", name: "demo", failed: ["role-rule-errors", "role-forged"] },
      { kind: "service", name: "items", failed: ["data-method-type", "data-seed-file"] },
      {
        kind: "service",
        name: "shop",
        failed: ["data-method-type", "reserved-card", "reserved-data", "reserved-interfaces", "reserved-spellings"],
      },
    ]);
  });
});

test("W5 examples/python-items passes all that is required", async () => {
  const server = await startServer({
    name: "examples/python-items",
    argv: () => [interopPython(), fileURLToPath(new URL("../../examples/python-items/envs/items/server.py", import.meta.url))],
    env: (port) => ({ MCP_HOST: "127.0.0.1", MCP_PORT: String(port), PYTHONDONTWRITEBYTECODE: "1" }),
    probe: "/.well-known/agent-env.json",
  });
  try {
    const report = await checked(server.url);
    expect({ conforms: report.conforms, failed: failedIn(report) }).toEqual({ conforms: true, failed: ["data-method-type"] });
  } finally {
    await server.stop();
  }
});

describe("W5 environments written with our SDK pass the kit, and the original's validators, client and tool client", () => {
  test("W5 a kiosk", async () => {
    const url = await servedKiosk();
    expect(failedIn(await checked(url))).toEqual([]);
    expect(await originalsOn(url, "kiosk_add", { title: "lamp" })).toEqual({
      ...NOTHING_WRONG,
      tools: ["kiosk_add", "kiosk_time", "kiosk_repair"],
      answer: "2 items",
    });
  });

  test("W5 the environment that passes the official suite", async () => {
    const serving = await conformanceEnvironment().serve({ host: "127.0.0.1", port: 0 });
    try {
      const url = `http://127.0.0.1:${serving.port}`;
      expect(failedIn(await checked(url))).toEqual([]);
      expect(await originalsOn(url, "test_simple_text", {})).toEqual({
        ...NOTHING_WRONG,
        tools: expect.arrayContaining(["test_simple_text", "test_error_handling"]),
        answer: "This is a simple text response for testing.",
      });
    } finally {
      await serving.close();
    }
  });
});

/** What the original finds of an environment with which nothing is wrong. */
const NOTHING_WRONG = {
  card: { accessible: true, missing: [] },
  operations: { "data/reset": true, "data/add": true, "data/get": true },
  "tool schemas": { passed: true, tools_missing_description: [], parameter_issues: {} },
  "speaks v1": true,
  data: [{ kind: "data", data: { items: ["tea"] } }],
  extension: { count: 3 },
};

async function originalsOn(url: string, tool: string, args: object): Promise<unknown> {
  return JSON.parse(await mustRun(interopPython(), [VALIDATORS, url, tool, JSON.stringify(args)], { budgetSeconds: 60 }));
}

function checked(url: string): Promise<ConformanceReport> {
  return checkedByKit(url, { seed: [{ kind: "data", data: SEED }] });
}

function failedIn(report: Parameters<typeof outcomesIn>[0]): string[] {
  return outcomesIn(report, "failed");
}
