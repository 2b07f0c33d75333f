import { settled } from "../../../deploy/readiness.ts";
import { environmentOf, type ProcessRow, processTable } from "./process-table.ts";

const BUDGET_SECONDS = 5;

/**
 * Ends processes that have left the group they were started in: they are known by their HOME, which lies in `folder`, a
 * folder that agent-env has made. One that took another HOME isn't found. Null when none is left, else which are.
 */
export async function endStrays(folder: string): Promise<string | null> {
  const attempt = async (): Promise<string | null> => {
    const pids = (await straysOf(folder)).map(({ pid }) => pid);
    for (const pid of pids) kill(pid);
    return pids.length === 0 ? null : `still running: ${pids.join(", ")}`;
  };
  // What is being cleaned up is cleaned up whatever else was cancelled.
  const result = await settled({ name: `strays of ${folder} end`, budgetSeconds: BUDGET_SECONDS, attempt }, new AbortController().signal);
  return result.ok ? null : result.reason;
}

/** Running processes whose HOME is `folder` or lies in it. */
async function straysOf(folder: string): Promise<readonly ProcessRow[]> {
  const rows = (await processTable()).filter(({ ended, pid }) => !ended && pid !== process.pid);
  const environments = await Promise.all(rows.map(({ pid }) => environmentOf(pid)));
  return rows.filter((_, index) =>
    environments[index]?.some((variable) => variable === `HOME=${folder}` || variable.startsWith(`HOME=${folder}/`)),
  );
}

/** A pid that is gone by now is what was wanted. */
function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && (error.code === "ESRCH" || error.code === "EPERM"))) throw error;
  }
}
