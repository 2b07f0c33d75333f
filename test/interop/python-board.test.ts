import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { runVerifier } from "../../build-service/src/run/verifiers/script.ts";
import { interopPython } from "../../scripts/setup/python.ts";
import { checkedByKit, outcomesIn } from "../fixtures/conformance-kit.ts";
import { endHosts, HOSTS, type RunningGateway } from "../fixtures/gateway/hosts.ts";
import { type ServerProcess, startServer } from "../fixtures/interop/server-process.ts";

const EXAMPLE = fileURLToPath(new URL("../../examples/python-board/", import.meta.url));

let board: ServerProcess;
beforeEach(async () => {
  board = await startServer({
    name: "examples/python-board",
    argv: () => [interopPython(), `${EXAMPLE}envs/board/server.py`],
    env: (port) => ({ MCP_HOST: "127.0.0.1", MCP_PORT: String(port), PYTHONDONTWRITEBYTECODE: "1" }),
    probe: "/api/health",
  });
});
afterEach(() => board.stop());
afterAll(endHosts);

test("W5 examples/python-board passes all that is required", async () => {
  const report = await checkedByKit(board.url);
  expect({ conforms: report.conforms, failed: outcomesIn(report, "failed") }).toEqual({ conforms: true, failed: ["data-method-type"] });
});

test.each(HOSTS)("W1.1 W3.1 behind a gateway on $host its verifier passes", async ({ start }) => {
  const gateway = await start({ record: { servers: [{ name: "board", kind: "website", url: board.url, frontend_url: board.url }] } });
  try {
    const rows = await verified(gateway);
    expect(rows.filter(({ result }) => !result)).toEqual([]);
    expect(rows.map(({ id }) => id)).toEqual(["tool", "form", "page", "closed"]);
  } finally {
    await gateway.stop();
  }
});

function verified({ base }: RunningGateway): ReturnType<typeof runVerifier> {
  return runVerifier({
    script: readFileSync(`${EXAMPLE}artifacts/board-verifier/verify.ts`),
    filename: "verify.ts",
    mcpUrl: `${base}/mcp`,
    gatewayUrl: base,
    envView: null,
    run: null,
    python: "python3",
    timeoutMs: 60_000,
    memoryMb: 512,
    signal: new AbortController().signal,
    onLog: () => {},
    onCall: () => {},
  });
}
