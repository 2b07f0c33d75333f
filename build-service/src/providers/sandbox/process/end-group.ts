import { settled } from "../../../deploy/readiness.ts";
import { environmentOf, type ProcessRow, processTable } from "./process-table.ts";

/** A process group that was started as a server: `pid` is its leader's, and so the group's number. */
export type GroupToEnd = { readonly pid: number; readonly started: string; readonly folder: string };

/** What a server may take to end by itself, and then the system to end it. */
const BUDGETS_SECONDS = { SIGTERM: 5, SIGKILL: 5 } as const;

/**
 * Ends a server's process group: SIGTERM, and SIGKILL to what is still there after five seconds. A group whose number has
 * gone over to somebody else is left alone. Null when it is gone, else why it isn't.
 */
export async function endGroup(group: GroupToEnd): Promise<string | null> {
  if ((await ownMembers(group)).length === 0) return null;
  let last = "";
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    const refused = send(group.pid, signal);
    if (refused !== null) return refused;
    const gone = await settled(
      { name: `group ${group.pid} ends`, budgetSeconds: BUDGETS_SECONDS[signal], attempt: () => stillThere(group) },
      // What is being cleaned up is cleaned up whatever else was cancelled.
      new AbortController().signal,
    );
    if (gone.ok) return null;
    last = gone.reason;
  }
  return `${last} ${BUDGETS_SECONDS.SIGKILL} s after SIGKILL`;
}

async function stillThere(group: GroupToEnd): Promise<string | null> {
  const pids = (await ownMembers(group)).map(({ pid }) => pid);
  return pids.length === 0 ? null : `still running: ${pids.join(", ")}`;
}

/** The running processes of a server's group; none when the number is another's by now. */
export async function ownMembers(group: GroupToEnd): Promise<readonly ProcessRow[]> {
  const rows = await processTable();
  const leader = rows.find(({ pid }) => pid === group.pid);
  const members = rows.filter((row) => row.group === group.pid && !row.ended);
  // A pid isn't given out again while a group of that number lives: another leader means that ours has ended whole.
  if (leader !== undefined) return leader.started === group.started ? members : [];
  // The leader is gone. What it left has its HOME; a stranger's group of that number, whose leader is gone too, hasn't.
  const environments = await Promise.all(members.map(({ pid }) => environmentOf(pid)));
  return members.filter((_, index) => environments[index]?.includes(`HOME=${group.folder}`));
}

/** Why a signal couldn't be sent; null also when nobody is left to receive it. */
function send(group: number, signal: "SIGTERM" | "SIGKILL"): string | null {
  try {
    process.kill(-group, signal);
    return null;
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    if (error.code === "ESRCH") return null;
    if (error.code === "EPERM") return `group ${group} belongs to another user`;
    throw error;
  }
}
