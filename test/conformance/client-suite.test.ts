import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const program = fileURLToPath(new URL("../../node_modules/.bin/conformance", import.meta.url));
const driver = fileURLToPath(new URL("client-driver.ts", import.meta.url));

/** What the core suite checks of clients, without authorization, which servers don't ask of a gateway; and the modern headers. */
const SCENARIOS: readonly [string, number][] = [
  ["initialize", 4],
  ["tools_call", 2],
  ["sse-retry", 3],
  ["elicitation-sep1034-client-defaults", 5],
  ["sep-2322-client-request-state", 5],
  ["request-metadata", 6],
  ["http-standard-headers", 11],
  ["http-custom-headers", 18],
  ["http-invalid-tool-headers", 12],
];

test.each(SCENARIOS)("G2 the upstream leg passes the official client scenario %s", async (scenario, checks) => {
  const command = `${process.execPath} ${driver}`;
  const child = spawn(process.execPath, [program, "client", "--command", command, "--scenario", scenario, "--timeout", "60000"]);
  let log = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (log += chunk));
  const exitCode = await new Promise<number | null>((resolve) => child.on("close", resolve));
  expect([exitCode, /^Passed: (.*)$/m.exec(log)?.[1]], log).toEqual([0, `${checks}/${checks}, 0 failed, 0 warnings`]);
});
