import http from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { agentEnv, NO_DOCKER } from "../fixtures/agent-env.ts";
import { freePort } from "../fixtures/edge.ts";

/** As a program sends it that names its host itself. */
async function statusAndText(url: string, headers: Record<string, string>): Promise<[number | undefined, string]> {
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  http.get(url, { headers }, resolve).on("error", reject);
  const answer = await promise;
  return [answer.statusCode, await text(answer)];
}

test("N4 N8 gateway dev --json prints one line, with the address that answers, and no other host's", { timeout: 120_000 }, async () => {
  const cli = agentEnv(NO_DOCKER);
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
    expect((await asked({ host: `evil.example:${port}` }))[0]).toBe(403);
  } finally {
    gateway.child.kill("SIGINT");
    const { out, exitCode } = await gateway.ended;
    expect({ out, exitCode }).toEqual({ out: `${JSON.stringify({ format_version: 1, url })}\n`, exitCode: 0 });
    cli.remove();
  }
});
