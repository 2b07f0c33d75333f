import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { run } from "../setup/command.ts";
import { runTier } from "../tests/vitest.ts";
import { directionProblems, type PackageManifest } from "./directions.ts";
import { sourceFiles } from "./source-files.ts";

/** How one part of the check ended. `passed` and `failed` count tests where there are any, else the part itself. */
export type CheckResult = {
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: readonly string[];
  readonly seconds: number;
  readonly output: string;
};

const CHECKOUT = fileURLToPath(new URL("../..", import.meta.url));
const PACKAGES = ["shared", "sdk", "gateway-worker", "build-service"];
const BUDGET_SECONDS = 300;
const MANIFEST = z.object({
  name: z.string(),
  dependencies: z.record(z.string(), z.string()).default({}),
  peerDependencies: z.record(z.string(), z.string()).default({}),
  devDependencies: z.record(z.string(), z.string()).default({}),
});

/** Runs all parts of the check at once, and tells each as it ends. */
export async function runChecks(ended: (result: CheckResult) => void): Promise<CheckResult[]> {
  const parts = [
    command("types, Node", "tsc", ["-p", "tsconfig.json"]),
    command("types, Workers", "tsc", ["-p", "tsconfig.web.json"]),
    command("lint, format", "biome", ["check", "--error-on-warnings", "--colors=off"]),
    directions(),
    unitTests(),
  ];
  return Promise.all(
    parts.map(async (part) => {
      const result = await part;
      ended(result);
      return result;
    }),
  );
}

async function command(name: string, program: string, args: readonly string[]): Promise<CheckResult> {
  const started = performance.now();
  const result = await run(program, args, { budgetSeconds: BUDGET_SECONDS, cwd: CHECKOUT });
  const output = result.code === null ? `${program} did not end within ${BUDGET_SECONDS} s` : `${result.stdout}${result.stderr}`;
  return whole(name, started, result.code === 0 ? null : output);
}

async function directions(): Promise<CheckResult> {
  const started = performance.now();
  const problems = directionProblems(sourceFiles(CHECKOUT, PACKAGES), PACKAGES.map(readManifest));
  return whole("import direction", started, problems.length === 0 ? null : problems.join("\n"));
}

async function unitTests(): Promise<CheckResult> {
  const { passed, failed, skipped, seconds, trouble, output } = await runTier("unit", { budgetSeconds: BUDGET_SECONDS, show: false });
  return { name: "unit tests", passed, failed, skipped, seconds, output: failed === 0 ? "" : `${trouble ?? ""}\n${output}` };
}

function whole(name: string, started: number, problem: string | null): CheckResult {
  const seconds = (performance.now() - started) / 1000;
  return { name, passed: problem === null ? 1 : 0, failed: problem === null ? 0 : 1, skipped: [], seconds, output: problem ?? "" };
}

function readManifest(folder: string): PackageManifest {
  const manifest = MANIFEST.parse(JSON.parse(readFileSync(join(CHECKOUT, folder, "package.json"), "utf8")));
  return {
    folder,
    name: manifest.name,
    dependencies: [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)],
    devDependencies: Object.keys(manifest.devDependencies),
  };
}
