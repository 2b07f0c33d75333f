import { expect, test } from "vitest";
import { agentEnv, NO_DOCKER } from "../fixtures/agent-env.ts";
import { freePort } from "../fixtures/edge.ts";

test("N8 gateway dev --json prints one line, with the address that answers", { timeout: 120_000 }, async () => {
  const cli = agentEnv(NO_DOCKER);
  const url = `http://localhost:${await freePort()}`;
  const gateway = cli.start("gateway", "dev", "--port", new URL(url).port, "--json");
  try {
    await gateway.seen("format_version");
    expect((await fetch(url)).status).toBeLessThan(600);
  } finally {
    gateway.child.kill("SIGINT");
    const { out, exitCode } = await gateway.ended;
    expect({ out, exitCode }).toEqual({ out: `${JSON.stringify({ format_version: 1, url })}\n`, exitCode: 0 });
    cli.remove();
  }
});
