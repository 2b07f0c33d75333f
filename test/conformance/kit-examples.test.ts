import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { checkedByKit } from "../fixtures/conformance-kit.ts";
import { startServer } from "../fixtures/interop/server-process.ts";

/** An example's server, and what of its checks is skipped besides what only few environments have. */
const EXAMPLES: readonly (readonly [file: string, skipped: readonly string[]])[] = [
  ["suite/envs/shop/server.ts", []],
  ["suite/envs/shoprel/server.ts", []],
  ["suite/envs/notes/server.ts", ["mcp: declares no MCP interface"]],
  ["suite/envs/items/server.ts", []],
  ["react-shop/envs/shop/server.ts", []],
  ["hello/envs/greeter/server.ts", []],
  ["hello/envs/guestbook/server.ts", []],
];

test.each(EXAMPLES)("W5 W6 examples/%s passes", async (file, skipped) => {
  const server = await startServer({
    name: file,
    argv: () => [process.execPath, fileURLToPath(new URL(`../../examples/${file}`, import.meta.url))],
    env: (port) => ({ HOST: "127.0.0.1", PORT: String(port), MCP_HOST: "127.0.0.1", MCP_PORT: String(port) }),
    probe: "/.well-known/agent-env.json",
  });
  try {
    const { conforms, subjects } = await checkedByKit(server.url);
    const checks = subjects.flatMap((subject) => subject.checks);
    const mcp = checks.flatMap((check) => (check.id === "mcp" && check.outcome === "skipped" ? [`${check.id}: ${check.reason}`] : []));
    expect({ conforms, failed: checks.filter(({ outcome }) => outcome === "failed"), mcp }).toEqual({
      conforms: true,
      failed: [],
      mcp: skipped,
    });
  } finally {
    await server.stop();
  }
});
