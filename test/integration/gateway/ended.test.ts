import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { JSON_HEADERS, rawTo } from "../../fixtures/gateway/client.ts";
import { mcpFixture, text } from "../../fixtures/gateway/mcp-server.ts";
import { type Edge, startEdge } from "../../fixtures/gateway/worker-host.ts";
import { until } from "../../fixtures/until.ts";

const WORD = "a-word-that-is-remembered";
const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of clean.splice(0).reverse()) await end();
});

describe("G8 what an ended deployment remembers, at the edge", () => {
  const started = async (keptSeconds: string) => {
    const edge = await startEdge({ GATEWAY_ENDED_KEPT_S: keptSeconds });
    clean.push(() => edge.stop());
    const items = await mcpFixture({ name: "items", tools: [[{ name: "say" }, () => text(WORD)]] });
    clean.push(() => items.close());
    const expires_at = `${new Date(Date.now() + 15_000).toISOString().slice(0, 19)}Z`;
    const record = {
      expires_at,
      deployment_id: "d1",
      name: "demo",
      auth: { mode: "open" },
      servers: [{ name: "items", kind: "mcp", url: items.url }],
      revision: 1,
    };
    await edge.inKv("d1", record);
    await until("it is ready", 30_000, async () => (await ask(edge, "/health")).status === 200);
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "say" } };
    await rawTo(edge.port, "/d/d1/mcp", { method: "POST", headers: JSON_HEADERS, body: JSON.stringify(call) });
    expect(await remembers(edge)).toBe(true);
    return { edge, record };
  };
  test("is dropped once it has been over for as long as is set", async () => {
    const { edge, record } = await started("1");
    await until("its rows are gone", 30_000, async () => !(await remembers(edge)));
    expect((await ask(edge, "/state")).json()).toEqual({ error: `Deployment d1 expired at ${record.expires_at}` });
  });

  test("is dropped of one that was not in memory when it ended", async () => {
    const { edge } = await started("1");
    await edge.evict("d1");
    await until("its rows are gone", 30_000, async () => !(await remembers(edge)));
  });

  test("is there again with one that is given more time before that", async () => {
    const { edge, record } = await started("3600");
    await until("it is over", 20_000, async () => (await ask(edge, "/state")).status === 410);
    await edge.inKv("d1", { ...record, expires_at: null, revision: 2 });
    await until("it is served again", 20_000, async () => (await ask(edge, "/trajectory")).status === 200);
    expect((await ask(edge, "/trajectory")).text).toContain(WORD);
  });
});

function ask(edge: Edge, path: string) {
  return rawTo(edge.port, `/d/d1${path}`);
}

/** Whether what was said in the deployment lies anywhere in its object's files. */
async function remembers(edge: Edge): Promise<boolean> {
  const names = await readdir(edge.folder, { recursive: true });
  const files = names.filter((name) => name.includes(".sqlite") && name.includes("DeploymentObject"));
  const texts = await Promise.all(files.map((name) => readFile(join(edge.folder, name)).catch(() => Buffer.alloc(0))));
  return texts.some((bytes) => bytes.includes(WORD));
}
