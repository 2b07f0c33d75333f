import { expect, test } from "vitest";
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
  // It is nobody's child any more, and its new parent may take a moment to notice that it has ended.
  await until(`process ${pid} has ended`, 5_000, () => !isAlive(pid));
});

/** Asks the system itself, not the table that strays are looked for in. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
    throw error;
  }
}
