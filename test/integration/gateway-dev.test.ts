import http from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { openLocalStore } from "../../build-service/src/store/local.ts";
import { agentEnv, NO_DOCKER } from "../fixtures/agent-env.ts";
import { childrenOf, hasEnded, portsOf } from "../fixtures/child-processes.ts";
import { freePort } from "../fixtures/edge.ts";
import { until } from "../fixtures/until.ts";

/** As a program sends it that names its host itself. */
async function statusAndText(url: string, headers: Record<string, string>): Promise<[number | undefined, string]> {
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  http.get(url, { headers }, resolve).on("error", reject);
  const answer = await promise;
  return [answer.statusCode, await text(answer)];
}

test("N4 N8 gateway dev --json prints one line, with the address that answers, and no other host's", { timeout: 120_000 }, async () => {
  const cli = agentEnv({ ...NO_DOCKER, GATEWAY_DOMAINS: "edge.example" });
  const url = `http://localhost:${await freePort()}`;
  const gateway = cli.start("gateway", "dev", "--port", new URL(url).port, "--json");
  try {
    await gateway.seen("format_version");
    expect((await fetch(url)).status).toBeLessThan(600);
    const { port } = new URL(url);
    const asked = (headers: Record<string, string>) => statusAndText(`http://127.0.0.1:${port}/d/none-00000000/state`, headers);
    const unknown = await asked({ host: `localhost:${port}` });
    expect(unknown[0]).toBe(404);
    expect(await asked({ host: `shop--none-00000000.localhost:${port}` })).toEqual(unknown);
    // by a setting of the shell's
    expect(await asked({ host: `edge.example:${port}` })).toEqual(unknown);
    expect((await asked({ host: `evil.example:${port}` }))[0]).toBe(403);
    // wrangler's own Workers would believe it
    expect((await asked({ host: `evil.example:${port}`, "mf-original-url": url }))[0]).toBe(403);
    expect(await asked({ host: `localhost:${port}`, "mf-original-url": "http://evil.example" })).toEqual(unknown);
  } finally {
    gateway.child.kill("SIGINT");
    const { out, exitCode } = await gateway.ended;
    expect({ out, exitCode }).toEqual({ out: `${JSON.stringify({ format_version: 1, url })}\n`, exitCode: 0 });
    cli.remove();
  }
});

const linux = process.platform === "linux";

test.skipIf(!linux)("no port that gateway dev opens gives out an object of the store", { timeout: 120_000 }, async () => {
  const cli = agentEnv(NO_DOCKER);
  const store = await openLocalStore(cli.stateDir, "write");
  await store.objects.put("records/answer", "forty-two");
  await store.close();
  const own = await freePort();
  const gateway = cli.start("gateway", "dev", "--port", String(own));
  try {
    await gateway.seen("until Ctrl-C");
    const processes = [String(gateway.child.pid), ...childrenOf(Number(gateway.child.pid))];
    const ports = processes.flatMap(portsOf);
    expect(ports).toContain(own);
    for (const port of ports) {
      for (const path of ["/cdn-cgi/local/r2/public/agent-env-store/records/answer", "/cdn-cgi/explorer", "/cdn-cgi/handler/scheduled"]) {
        const [status, said] = await statusAndText(`http://127.0.0.1:${port}${path}`, {});
        expect([status, said], `${port}${path}`).toEqual([expect.toBeOneOf([403, 404]), expect.not.stringContaining("forty-two")]);
      }
    }
  } finally {
    gateway.child.kill("SIGINT");
    await gateway.ended;
    cli.remove();
  }
});

test.skipIf(!linux)("a workerd that was killed is started again, at the same address", { timeout: 120_000 }, async () => {
  const cli = agentEnv(NO_DOCKER);
  const url = `http://localhost:${await freePort()}`;
  const gateway = cli.start("gateway", "dev", "--port", new URL(url).port);
  try {
    await gateway.seen("until Ctrl-C");
    const [workerd = ""] = childrenOf(Number(gateway.child.pid));
    process.kill(Number(workerd), "SIGKILL");
    await until("another one serves", 60_000, async () => {
      const [next = workerd] = childrenOf(Number(gateway.child.pid)).filter((pid) => !hasEnded(pid));
      return next !== workerd && (await fetch(url)).status < 600;
    });
  } finally {
    gateway.child.kill("SIGINT");
    await gateway.ended;
    cli.remove();
  }
});
