import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../fixtures/folder.ts";
import { endHosts, HOSTS } from "../fixtures/gateway/hosts.ts";
import type { Recorder } from "../fixtures/gateway/recorder.ts";
import { bearer, newSigner } from "../fixtures/gateway/tokens.ts";
import { type Address, withDriver } from "../fixtures/interop/driver.ts";
import { everythingOf } from "../fixtures/interop/everything.ts";
import { mcpRemote } from "../fixtures/interop/mcp-remote.ts";
import { everythingServer } from "../fixtures/interop/public-servers.ts";
import type { ServerProcess } from "../fixtures/interop/server-process.ts";
import { tap } from "../fixtures/interop/tap.ts";

let home: ReturnType<typeof temporaryFolder>;
let server: ServerProcess;
let seen: Recorder;
let direct: Record<string, unknown>;
beforeAll(async () => {
  home = temporaryFolder();
  server = await everythingServer();
  seen = await tap(server.url);
  direct = await got({ url: `${server.url}/mcp` });
});
afterAll(async () => {
  await Promise.all([endHosts(), seen.close(), server.stop()]);
  home[Symbol.dispose]();
});

/** The bridge itself loses progress that comes close to its result: that is left out. */
async function got(address: Address): Promise<Record<string, unknown>> {
  const { progress, ...others } = await withDriver(mcpRemote(address, home.path), everythingOf);
  expect(progress).toContainEqual({ progress: 1, total: 3 });
  return others;
}

describe.each(HOSTS)("mcp-remote before the gateway, host $host", ({ start }) => {
  test("N4 F50 a client that speaks stdio gets what it gets directly, with a token that no server sees", async () => {
    const signer = await newSigner();
    const auth = { mode: "token" as const, keys: [signer.jwk] };
    const gateway = await start({ record: { auth, servers: [{ name: "everything", kind: "mcp", url: seen.url }] } });
    const token = await signer.sign({ aud: gateway.deployment, scope: "tools" });
    try {
      expect(await got({ url: `${gateway.base}/mcp`, headers: bearer(token) })).toEqual(direct);
    } finally {
      await gateway.stop();
    }
    expect(seen.received.length).toBeGreaterThan(0);
    const fields = seen.received.flatMap(({ headers }) => headers.map(([name, value]) => `${name}: ${value}`));
    expect(fields.filter((field) => field.startsWith("authorization:") || field.includes(token))).toEqual([]);
  });
});
