import { fileURLToPath } from "node:url";
import { z } from "zod";
import { mustRun, which } from "../../scripts/setup/command.ts";

const ANSWER_BUDGET_SECONDS = 30;

/** What a load came to. Times are of the whole call, as its caller sees it; where no call was over, they are longer than the load was. */
export type Load = {
  readonly calls: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
};

const Said = z.object({
  calls: z.number(),
  micros: z.number(),
  p50: z.number(),
  p99: z.number(),
  max: z.number(),
  bad: z.number(),
});

/** Calls of the tool `echo`. `sessions`: a file with one session id a line; null: calls of the modern era. `checked` reads every answer of a single caller. */
export type CallLoad = {
  readonly url: string;
  readonly callers: number;
  readonly seconds: number;
  readonly sessions: string | null;
  readonly token: string | null;
  readonly reads?: "checked";
};

/** Sends calls of the tool with unique texts, as fast as they are answered. Throws when one isn't answered well. */
export function callLoad({ url, callers, seconds, sessions, token, reads }: CallLoad): Promise<Load> {
  return load("call.lua", { url, callers, seconds }, [sessions ?? "-", token ?? "-", reads ?? "counted"]);
}

export type GetLoad = {
  readonly url: string;
  readonly callers: number;
  readonly seconds: number;
  readonly token: string | null;
  readonly host?: string;
};

/** GETs one address, as fast as it answers. Throws when an answer isn't a good one. */
export function getLoad({ url, callers, seconds, token, host }: GetLoad): Promise<Load> {
  return load("get.lua", { url, callers, seconds }, [token ?? "-", host ?? "-"]);
}

/** So many callers, in words. */
export function callersText(callers: number): string {
  return callers === 1 ? "1 caller" : `${callers} callers`;
}

async function load(script: string, what: { url: string; callers: number; seconds: number }, args: readonly string[]): Promise<Load> {
  const { url, callers, seconds } = what;
  const wrk = which("wrk");
  if (wrk === null) throw new Error("no wrk on PATH: npm run setup -- --bench installs it");
  const path = fileURLToPath(new URL(script, import.meta.url));
  const options = ["-t1", `-c${callers}`, `-d${seconds}s`, "--timeout", `${ANSWER_BUDGET_SECONDS}s`, "-s", path, url, "--", ...args];
  const said = await mustRun(wrk, options, { budgetSeconds: seconds + 2 * ANSWER_BUDGET_SECONDS });
  const { calls, micros, p50, p99, max, bad } = Said.parse(JSON.parse(said.trim().split("\n").at(-1) ?? ""));
  if (bad > 0) throw new Error(`${url}: ${bad} of ${calls} answers are bad ones`);
  const times = calls === 0 ? { p50: micros, p99: micros, max: micros } : { p50, p99, max };
  return { calls, perSecond: calls / (micros / 1e6), p50Ms: times.p50 / 1000, p99Ms: times.p99 / 1000, maxMs: times.max / 1000 };
}
