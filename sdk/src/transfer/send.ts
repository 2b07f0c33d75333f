import { setTimeout as pause } from "node:timers/promises";
import { AgentEnvError } from "../agent-env-error.ts";

const TRIES = 3;
/** An attempt that takes longer than this is taken for one that never ends. */
const ATTEMPT_BUDGET_MS = 600_000;

/** What can go wrong with a transfer, each with its HTTP status (3-wire §data). */
const STATUSES = {
  invalid_transfer: 400,
  grant_expired: 410,
  transfer_too_large: 413,
  integrity_mismatch: 422,
  transfer_rejected: 502,
  transfer_unavailable: 502,
  transfer_timeout: 504,
} as const;

/** A transfer that failed. Its message holds no value of a grant: they are secrets. */
export function transferFailed(
  code: keyof typeof STATUSES,
  message: string,
  options: { retryable?: boolean; cause?: unknown } = {},
): AgentEnvError {
  const { retryable = false, cause } = options;
  const error = new AgentEnvError(code, message, { status: STATUSES[code], retryable });
  if (cause !== undefined) error.cause = cause;
  return error;
}

export type Sending = {
  readonly url: string;
  /** RFC 3339: nothing is sent after it. */
  readonly expiresAt: string;
  readonly request: () => RequestInit;
  /** Waits before the second and third try, in ms. */
  readonly waitsMs?: readonly number[];
  readonly attemptBudgetMs?: number;
};

/**
 * Sends a request that a grant allows, and gives the answer once it is a success: up to three times, while the failure may
 * pass and the grant holds. Redirects aren't followed: the grant is for this address.
 */
export async function send<T>(sending: Sending, read: (answer: Response) => Promise<T>): Promise<T> {
  const { waitsMs = [250, 1_000] } = sending;
  for (let tried = 1; ; tried++) {
    if (Date.parse(sending.expiresAt) <= Date.now()) throw transferFailed("grant_expired", "the grant has expired");
    try {
      return await attempt(sending, read);
    } catch (thrown) {
      const mayPass = thrown instanceof AgentEnvError && thrown.fields.retryable;
      if (!mayPass || tried === TRIES) throw thrown;
    }
    await pause(waitsMs[tried - 1] ?? 0);
  }
}

async function attempt<T>(
  { url, request, attemptBudgetMs = ATTEMPT_BUDGET_MS }: Sending,
  read: (answer: Response) => Promise<T>,
): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(url, { ...request(), redirect: "manual", signal: AbortSignal.timeout(attemptBudgetMs) });
    if (answer.ok) return await read(answer);
    if (!(await mayPass(answer))) throw transferFailed("transfer_rejected", `the store answered ${answer.status}`);
  } catch (cause) {
    if (cause instanceof AgentEnvError) throw cause;
    const timedOut = cause instanceof Error && cause.name === "TimeoutError";
    if (timedOut)
      throw transferFailed("transfer_timeout", `the store took longer than ${attemptBudgetMs / 1000} s`, { retryable: true, cause });
    throw transferFailed("transfer_unavailable", "the connection to the store broke", { retryable: true, cause });
  }
  throw transferFailed("transfer_unavailable", `the store answered ${answer.status}`, { retryable: true });
}

/** Some stores say 400 when a body came too slowly. */
async function mayPass(answer: Response): Promise<boolean> {
  if (answer.status === 400) return (await answer.text()).includes("RequestTimeout");
  await answer.body?.cancel();
  return answer.status === 408 || answer.status === 429 || answer.status >= 500;
}
