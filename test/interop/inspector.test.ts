import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../fixtures/folder.ts";
import { endHosts, type RunningGateway } from "../fixtures/gateway/hosts.ts";
import { startNodeHost } from "../fixtures/gateway/node-host.ts";
import { newSigner } from "../fixtures/gateway/tokens.ts";
import { DOCUMENT } from "../fixtures/interop/everything.ts";
import { inspect } from "../fixtures/interop/inspector.ts";
import { everythingServer } from "../fixtures/interop/public-servers.ts";
import type { ServerProcess } from "../fixtures/interop/server-process.ts";

let home: ReturnType<typeof temporaryFolder>;
let server: ServerProcess;
let gateway: RunningGateway;
let token: string;
beforeAll(async () => {
  home = temporaryFolder();
  server = await everythingServer();
  const signer = await newSigner();
  const auth = { mode: "token" as const, keys: [signer.jwk] };
  gateway = await startNodeHost({ record: { auth, servers: [{ name: "everything", kind: "mcp", url: server.url }] } });
  token = await signer.sign({ aud: gateway.deployment, scope: "tools" });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([endHosts(), server.stop()]);
  home[Symbol.dispose]();
});

const directly = (argv: readonly string[]) => inspect(home.path, `${server.url}/mcp`, argv);
const through = (argv: readonly string[]) =>
  inspect(home.path, `${gateway.base}/mcp`, ["--header", `Authorization: Bearer ${token}`, ...argv]);

const COMMANDS: readonly (readonly string[])[] = [
  ["tools/list"],
  ["tools/call", "--tool-name", "get-tiny-image"],
  ["tools/call", "--tool-name", "get-sum", "--tool-arg", "a=2", "b=40"],
  ["prompts/get", "--prompt-name", "args-prompt", "--prompt-args", "city=Oslo"],
  ["resources/read", "--uri", DOCUMENT],
];

describe("the inspector's command line, with a token", () => {
  test.each(COMMANDS.map((command) => [command.slice(0, 3).join(" "), command] as const))(
    "G2 %s prints what it prints of the server itself",
    async (_name, command) => {
      const argv = ["--method", ...command];
      const [expected, got] = await Promise.all([directly(argv), through(argv)]);
      expect(expected).toEqual(expect.any(Object));
      expect(got).toEqual(expected);
    },
  );

  test("G2 it finds no fault with the schemas of the tools, in its modern mode", async () => {
    const listed = await through(["--method", "tools/list", "--strict", "--protocol-era", "modern"]);
    expect(listed).toMatchObject({ tools: expect.arrayContaining([expect.objectContaining({ name: "echo" })]) });
  });

  test("N4 without the token it is refused", async () => {
    await expect(inspect(home.path, `${gateway.base}/mcp`, ["--method", "tools/list"])).rejects.toThrow(/"auth_required"/);
  });
});
