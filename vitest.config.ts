import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";

/** Files that have only a long form are left out of the others' runs. */
const onlyLong = process.env["AGENT_ENV_TEST_LONG"] === "1" ? [] : ["**/*.long.test.ts"];

/** One project a tier. What needs more than one package lies in `test/<tier>/`; unit tests lie beside the source. */
const tier = (name: string, include: string[], timeoutMs: number, oneFileAtATime = false) => ({
  test: {
    name,
    include,
    exclude: [...configDefaults.exclude, ...onlyLong],
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    fileParallelism: !oneFileAtATime,
    environment: "node" as const,
  },
});

export default defineConfig({
  test: {
    // The default leaves one processor idle; half of what is tested waits for something.
    maxWorkers: Math.max(2, availableParallelism()),
    projects: [
      tier("unit", ["{shared,sdk,gateway-worker,build-service,scripts,bench}/**/*.test.ts"], 20_000),
      tier("integration", ["test/integration/**/*.test.ts", "examples/**/*.test.ts"], 180_000),
      tier("docker", ["test/docker/**/*.test.ts"], 300_000, true),
      tier("interop", ["test/interop/**/*.test.ts"], 300_000, true),
      tier("conformance", ["test/conformance/**/*.test.ts"], 300_000, true),
      tier("browser", ["test/browser/**/*.test.ts"], 120_000, true),
      tier("chaos", ["test/chaos/**/*.test.ts"], 300_000, true),
    ],
  },
});
