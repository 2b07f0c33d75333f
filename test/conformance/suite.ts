import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../node_modules/.bin/conformance", import.meta.url));

export type Revision = "2025-11-25" | "2026-07-28";
/** What a run of the official suite came to: its exit code, and each check as `<scenario> <check>`, once for every time it was made. */
export type SuiteRun = { readonly exitCode: number | null; readonly passed: string[]; readonly failed: string[]; readonly log: string };

/** Runs all that a revision requires, and what the suite has besides, against a server. */
export async function runSuite(url: string, revision: Revision): Promise<SuiteRun> {
  const folder = await mkdtemp(join(tmpdir(), "agent-env-conformance-"));
  try {
    const child = spawn(process.execPath, [program, "server", "--url", url, "--requirements", revision, "-o", folder]);
    let log = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (log += chunk));
    const exitCode = await new Promise<number | null>((resolve) => child.on("close", resolve));
    const checks = await checksIn(folder);
    const named = (status: string) => checks.filter((check) => check.status === status).map(({ name }) => name);
    return { exitCode, passed: named("SUCCESS"), failed: named("FAILURE"), log };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function checksIn(folder: string): Promise<{ name: string; status: string }[]> {
  const runs = await readdir(folder);
  const perScenario = runs.sort().map(async (run) => {
    const scenario = run.replace(/-\d{4}-\d{2}-\d{2}T.*$/, "");
    const checks: { id: string; status: string }[] = JSON.parse(await readFile(join(folder, run, "checks.json"), "utf8"));
    return checks.map(({ id, status }) => ({ name: `${scenario} ${id}`, status }));
  });
  return (await Promise.all(perScenario)).flat();
}

/** What is in `list` more often than in `other`. */
export function missingFrom(other: readonly string[], list: readonly string[]): string[] {
  const left = [...other];
  return list.filter((name) => {
    const at = left.indexOf(name);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
