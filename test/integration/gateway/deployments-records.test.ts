import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rawTo } from "../../fixtures/gateway/client.ts";
import { type Edge, startEdge } from "../../fixtures/gateway/worker-host.ts";
import { until } from "../../fixtures/until.ts";

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.stop());

describe("N1 a deployment's record", () => {
  test("is KV's, else R2's; with neither the deployment is unknown, and known soon after it is written", async () => {
    await edge.inKv("both", record("both", 2, "of KV"));
    await edge.inR2("both", record("both", 2, "of R2"));
    await edge.inR2("r2only", record("r2only", 1, "of R2"));
    expect([await nameOf("both"), await nameOf("r2only")]).toEqual(["of KV", "of R2"]);
    const absent = await ask("later", "/health");
    expect([absent.status, absent.json()]).toEqual([404, { error: "Unknown deployment: later" }]);
    await edge.inR2("later", record("later", 1, "late"));
    await until("it is known", 10_000, async () => (await nameOf("later")) === "late");
  });

  test("of an older revision than was served is not gone back to, also after the object left memory", async () => {
    await edge.inKv("moved", record("moved", 1, "old"));
    expect(await nameOf("moved")).toBe("old");
    await edge.inKv("moved", record("moved", 3, "new"));
    await edge.inR2("moved", record("moved", 4, "newest"));
    await until("the new one is served", 10_000, async () => (await nameOf("moved")) === "new");
    await edge.inKv("moved", record("moved", 2, "stale"));
    await edge.evict("moved");
    const seen = new Set<unknown>();
    await until("R2's is served", 10_000, async () => {
      seen.add(await nameOf("moved"));
      return seen.has("newest");
    });
    expect([...seen].filter((name) => name !== "new")).toEqual(["newest"]);
  });

  test("that is broken in KV is read from R2; broken in both it is that deployment's own error", async () => {
    const good = record("mended", 1, "of R2");
    await edge.inKv("mended", '{"revision":');
    await edge.inR2("mended", good);
    await edge.inKv("broken", { ...record("broken", 1, "x"), servers: [{ name: "items", kind: "mcp", url: "ftp://10.0.0.7:99/" }] });
    await edge.inR2("broken", "not JSON");
    await edge.inKv("timeless", { ...record("timeless", 1, "x"), expires_at: "soon" });
    expect(await nameOf("mended")).toBe("of R2");
    const answers = await Promise.all(["broken", "timeless"].map((id) => ask(id, "/state")));
    expect(answers.map((answer) => [answer.status, answer.json()])).toEqual([
      [500, { error: "Deployment broken has a record that can't be read: deploy it again" }],
      [500, { error: "Deployment timeless has a record that can't be read, at expires_at: deploy it again" }],
    ]);
    expect(await nameOf("mended")).toBe("of R2");
  });

  test("is looked up only for what can be a deployment's id; a request that names none is told how to", async () => {
    const none = { error: "this request names no deployment: ask at /d/<deployment>/…, or at the deployment's own host" };
    const paths = ["/", "/health", "/d/", "/d/A/health", "/d/-a/health", "/d/a-/health", `/d/${"a".repeat(64)}/health`, "/d/a%62c/health"];
    const answers = await Promise.all(paths.map((path) => rawTo(edge.port, path, { headers: { host: "localhost" } })));
    expect(answers.map((answer) => [answer.status, answer.json()])).toEqual(paths.map(() => [404, none]));
    const byHost = await rawTo(edge.port, "/health", { headers: { host: "a.b.localhost" } });
    expect([byHost.status, byHost.json()]).toEqual([404, none]);
  });
});

function record(id: string, revision: number, name: string): Record<string, unknown> {
  return { deployment_id: id, revision, name, auth: { mode: "open" }, servers: [] };
}

const ask = (id: string, path: string) => rawTo(edge.port, `/d/${id}${path}`);

async function nameOf(id: string): Promise<unknown> {
  const answer = await ask(id, "/.well-known/agent-env.json");
  return answer.status === 200 ? (answer.json() as { name: unknown }).name : answer.status;
}
