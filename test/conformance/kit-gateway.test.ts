import type { ConformanceReport } from "@agent-env/protocol";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { CHECKS } from "../../build-service/src/conformance/checks.ts";
import { checkedByKit, outcomesIn } from "../fixtures/conformance-kit.ts";
import { endHosts, HOSTS, type RunningGateway } from "../fixtures/gateway/hosts.ts";
import { mcpFixture, text } from "../fixtures/gateway/mcp-server.ts";
import { bearer, newSigner, type Signer } from "../fixtures/gateway/tokens.ts";
import { GATEWAY_MUTANTS, servedGateway } from "../fixtures/mutants/gateway-mutants.ts";
import { kiosk, SEED } from "../fixtures/mutants/kiosk.ts";

/** A gateway before the kiosk and an MCP server, with tokens where there is somebody to sign them. */
async function started(start: (typeof HOSTS)[number]["start"], signer?: Signer) {
  vi.spyOn(console, "error").mockReturnValue();
  const site = await kiosk().serve({ host: "127.0.0.1", port: 0 });
  const bell = await mcpFixture({
    name: "bell",
    card: {
      name: "bell",
      additionalInterfaces: [{ url: "/mcp", transport: "mcp" }],
      capabilities: { operations: [], tools: [{ name: "bell_ring", description: "Rings." }] },
    },
    tools: [[{ name: "bell_ring", description: "Rings.", inputSchema: { type: "object" } }, () => text("ding")]],
  });
  const gateway = await start({
    record: {
      ...(signer === undefined ? {} : { auth: { mode: "token", keys: [signer.jwk] } }),
      servers: [
        { name: "bell", kind: "mcp", url: bell.url },
        { name: "kiosk", kind: "website", url: site.url, frontend_url: site.url },
      ],
    },
  });
  return {
    gateway,
    stop: async () => {
      await gateway.stop();
      await Promise.all([site.close(), bell.close()]);
    },
  };
}

afterAll(endHosts);

describe.each(HOSTS)("W5 the kit and our gateway on the $host host", ({ start }) => {
  let running: Awaited<ReturnType<typeof started>>;
  beforeAll(async () => {
    running = await started(start);
  });
  afterAll(() => running.stop());

  test("W5 the gateway and each of its servers pass all that they are asked", async () => {
    const report = await checked(running.gateway.base);
    expect(report.subjects.map(({ url, kind, name }) => ({ url: url.slice(running.gateway.base.length), kind, name }))).toEqual([
      { url: "", kind: "gateway", name: "demo" },
      { url: "/svc/mcp-bell", kind: "service", name: "bell" },
      { url: "/svc/kiosk", kind: "service", name: "kiosk" },
    ]);
    expect(outcomesIn(report, "failed")).toEqual([]);
    expect(report.subjects.map(({ checks }) => checks.filter(({ outcome }) => outcome === "skipped").map(({ id }) => id))).toEqual([
      [],
      expect.arrayContaining(["data-endpoint", "mcp-undeclared", "website-page", "reserved-card"]),
      ["mcp-undeclared"],
    ]);
  });

  test("W5 a site with a hidden tool passes through /svc", async () => {
    const report = await checked(`${running.gateway.base}/svc/kiosk`);
    expect(report.subjects[0]?.checks.find(({ id }) => id === "mcp")).toMatchObject({ outcome: "passed" });
  });
});

describe("W5 the kit with a grader's token", () => {
  let running: Awaited<ReturnType<typeof started>>;
  let signer: Signer;
  beforeAll(async () => {
    signer = await newSigner();
    const [node] = HOSTS;
    if (node === undefined) throw new Error("there is a Node host");
    running = await started(node.start, signer);
  });
  afterAll(() => running.stop());
  const token = (gateway: RunningGateway, scope: string) => signer.sign({ aud: gateway.deployment, scope });

  test("W5 it passes, and says what the token is not good for", async () => {
    const headers = bearer(await token(running.gateway, "tools sites svc read"));
    const report = await checked(running.gateway.base, headers);
    expect(outcomesIn(report, "failed")).toEqual([]);
    const reasons = report.subjects[0]?.checks.flatMap((check) => (check.outcome === "skipped" ? [`${check.id}: ${check.reason}`] : []));
    expect(reasons).toEqual([
      "role-rules: the token may not set rules (scope control)",
      "role-rule-errors: the token may not set rules (scope control)",
      "role-forged: the token may not set rules (scope control)",
      "clock-gateway: the token may not set the clock (scope control)",
    ]);
    expect(JSON.stringify(report)).not.toContain(headers.authorization.slice("Bearer ".length));
  });

  test("W5 without a token it ends with what to do", async () => {
    await expect(checked(running.gateway.base)).rejects.toMatchObject({
      message: `${running.gateway.base}/.well-known/agent-env.json: HTTP 401`,
      why: "the deployment asks its callers for tokens",
      next: "agent-env gateway token --deployment <id> --preset grader, and give what it prints as --token",
      exitCode: 2,
    });
  });
});

describe("W5 a mutant of a gateway fails the checks of its fault, and no others", () => {
  let running: Awaited<ReturnType<typeof started>>;
  beforeAll(async () => {
    const [node] = HOSTS;
    if (node === undefined) throw new Error("there is a Node host");
    running = await started(node.start);
  });
  afterAll(() => running.stop());

  test("the gateway itself, through what changes nothing, passes", async () => {
    expect(outcomesIn(await checked(await servedGateway(running.gateway.base, {})), "failed")).toEqual([]);
  });

  test.each(GATEWAY_MUTANTS)("%s: %j", async (_what, fails, mutation) => {
    expect(outcomesIn(await checked(await servedGateway(running.gateway.base, mutation)), "failed")).toEqual([...fails]);
  });

  test("each check of a gateway, or of a site behind one, has a mutant that fails it", () => {
    const tried = new Set(GATEWAY_MUTANTS.flatMap(([, fails]) => fails));
    const missing = CHECKS.filter(({ on = ["server"] }) => !on.includes("server") || on.includes("gateway"))
      .map(({ id }) => id)
      .filter((id) => !tried.has(id));
    // These are of servers too, and have theirs in kit-mutants.test.ts.
    expect(missing).toEqual([
      "card-capabilities",
      "card-tools",
      "card-extensions",
      "mcp",
      "mcp-tools",
      "mcp-hidden-mark",
      "mcp-notification",
      "mcp-session",
      "mcp-unknown-tool",
    ]);
  });
});

function checked(url: string, headers: Readonly<Record<string, string>> = {}): Promise<ConformanceReport> {
  return checkedByKit(url, { seed: [{ kind: "data", data: SEED }], headers });
}
