import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../fixtures/folder.ts";
import { endHosts, HOSTS, type RunningGateway } from "../fixtures/gateway/hosts.ts";
import { type Address, type Driver, withDriver } from "../fixtures/interop/driver.ts";
import { FILES, filesOf, memoryOf } from "../fixtures/interop/memory-and-files.ts";
import { everythingServer, filesystemServer, memoryServer } from "../fixtures/interop/public-servers.ts";
import { sdkV1 } from "../fixtures/interop/sdk-v1.ts";
import { sdkV2 } from "../fixtures/interop/sdk-v2.ts";
import type { ServerProcess } from "../fixtures/interop/server-process.ts";

type Open = (address: Address) => Promise<Driver>;
type Name = "everything" | "memory" | "files";

const CLIENTS: readonly { readonly client: string; readonly open: Open }[] = [
  { client: "SDK v1", open: sdkV1 },
  { client: "SDK v2 in its modern mode", open: (address) => sdkV2(address, "modern") },
];

let home: ReturnType<typeof temporaryFolder>;
let servers: Readonly<Record<Name, ServerProcess>>;
beforeAll(async () => {
  home = temporaryFolder(Object.fromEntries(Object.entries(FILES).map(([name, content]) => [`files/${name}`, content])));
  const [everything, memory, files] = await Promise.all([
    everythingServer(),
    memoryServer(join(home.path, "memory.jsonl")),
    filesystemServer(join(home.path, "files")),
  ]);
  servers = { everything, memory, files };
});
afterAll(async () => {
  await Promise.all([endHosts(), ...Object.values(servers).map((server) => server.stop())]);
  home[Symbol.dispose]();
});

/** What a client gets of a server itself. */
function directly<Got>(open: Open, name: Name, work: (driver: Driver) => Promise<Got>): Promise<Got> {
  return withDriver(open({ url: `${servers[name].url}/mcp` }), work);
}

describe.each(HOSTS)("three public servers behind one gateway, two of them behind mcp-proxy, host $host", ({ start }) => {
  let gateway: RunningGateway;
  let address: Address;
  beforeAll(async () => {
    const record = { servers: Object.entries(servers).map(([name, { url }]) => ({ name, kind: "mcp" as const, url })) };
    gateway = await start({ record });
    address = { url: `${gateway.base}/mcp` };
  });
  afterAll(() => gateway.stop());

  describe.each(CLIENTS)("$client", ({ open }) => {
    test("G3 lists the tools of all of them, one server's after the other's, as they list them themselves", async () => {
      const tools = (driver: Driver) => driver.list("tools");
      const memory = await directly(open, "memory", tools);
      const files = await directly(open, "files", tools);
      expect(memory.length * files.length).toBeGreaterThan(0);
      const listed = await withDriver(open(address), tools);
      expect(listed.slice(-memory.length - files.length)).toEqual([...memory, ...files]);
      expect(listed).toHaveLength(13 + memory.length + files.length);
    });

    test("G2 remembers and forgets through it as directly", async () => {
      expect(await withDriver(open(address), memoryOf)).toEqual(await directly(open, "memory", memoryOf));
    });

    test("G2 reads and edits files through it as directly: pictures, errors and 2 MB whole", async () => {
      const work = (driver: Driver) => filesOf(driver, join(home.path, "files"));
      const expected = await directly(open, "files", work);
      expect(expected["large"]).toMatchObject({ sizeChars: expect.closeTo(2_125_000, -4) });
      expect(await withDriver(open(address), work)).toEqual(expected);
    });
  });
});
