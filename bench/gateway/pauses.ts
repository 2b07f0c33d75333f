import { writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

/**
 * Loaded into a gateway before it starts: on SIGUSR2 it writes the longest pause of the event loop since the last one, in ms,
 * into the file that `BENCH_PAUSES` names.
 */
const RESOLUTION_MS = 2;
const file = process.env["BENCH_PAUSES"] ?? "";
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delays.enable();
process.on("SIGUSR2", () => {
  const longestMs = delays.max / 1e6 - RESOLUTION_MS;
  delays.reset();
  writeFileSync(file, String(Math.max(0, longestMs)));
});
