import { expect, test } from "vitest";
import { straysOf } from "../../build-service/src/providers/sandbox/process/strays.ts";
import { runVerifier } from "../../build-service/src/run/verifiers/script.ts";

test("B12 what a verifier starts outside of its process group ends with it", async () => {
  let home = "";
  const rows = await runVerifier({
    script: new TextEncoder().encode(`
      import { spawn } from "node:child_process";
      export function verify() {
        const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
        child.unref();
        console.log("home " + process.env.HOME);
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
      home = /^home (.*)$/.exec(line)?.[1] ?? home;
    },
    onCall: () => {},
  });
  expect(rows).toEqual([{ result: true }]);
  expect(home).not.toBe("");
  expect(await straysOf(home)).toEqual([]);
});
