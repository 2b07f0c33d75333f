import { expect, test } from "vitest";
import { startOf } from "../../build-service/src/providers/sandbox/process/process-table.ts";
import { runVerifier } from "../../build-service/src/run/verifiers/script.ts";
import { until } from "../fixtures/until.ts";

test("B12 what a verifier starts outside of its process group ends with it", async () => {
  let printed = "";
  const rows = await runVerifier({
    script: new TextEncoder().encode(`
      import { spawn } from "node:child_process";
      export function verify() {
        const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
        child.unref();
        console.log("pid " + child.pid);
        return [{ result: child.pid > 0 }];
      }`),
    filename: "verify.mjs",
    mcpUrl: "http://127.0.0.1:1/mcp",
    gatewayUrl: null,
    envView: {},
    run: null,
    python: "python3",
    timeoutMs: 20_000,
    memoryMb: 512,
    signal: new AbortController().signal,
    onLog: (line) => {
      printed = /^pid (\d+)$/.exec(line)?.[1] ?? printed;
    },
    onCall: () => {},
  });
  expect(rows).toEqual([{ result: true }]);
  const pid = Number(printed);
  expect(pid).toBeGreaterThan(0);
  // Asked of the pid alone, not by what strays are looked for by; one that nobody collects counts as ended.
  await until(`process ${pid} has ended`, 5_000, async () => (await startOf(pid)) === null);
});
