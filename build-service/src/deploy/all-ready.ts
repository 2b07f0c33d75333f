import { UserError } from "@agent-env/protocol";
import type { Started } from "../providers/env/provider.ts";
import type { Probe, ProbeResult } from "../providers/sandbox/provider.ts";
import { attemptOf, type NamedAttempt, settled } from "./readiness.ts";
import { pause } from "./until.ts";

/** How long a server may take (3-wire §topology: 60 s and 30 tries of 5 s), and the gateway over all of them (5-run §5.2). */
const SERVER_BUDGET_S = 210;
export const GATEWAY_BUDGET_S = 300;

const LOOK_EVERY_MS = 500;
const SAY_EVERY_MS = 10_000;
const LOG_LINES = 30;
/** Of a bundled server's line only the start is worth showing. */
const LINE_LENGTH = 400;

/** That a service is ready: seen from this machine, or from the deployment's own network. */
export type Check =
  | ({ readonly service: string; readonly from: "here" } & NamedAttempt)
  | { readonly service: string; readonly from: "inside"; readonly probe: Probe };

/** The check of a server from wherever it can be reached: its published address, else the network. */
export function serverCheck(started: Started, service: Started["services"][number]): Check {
  const address = started.addresses.get(service.name);
  if (address === undefined) throw new Error(`${service.name} was given no address`);
  const base = address.outside ?? address.inside;
  const probe: Probe = { name: service.name, budgetSeconds: SERVER_BUDGET_S, ...probeTarget(service.role, base) };
  if (address.outside === null) return { service: service.name, from: "inside", probe };
  return { service: service.name, from: "here", name: probe.name, budgetSeconds: probe.budgetSeconds, attempt: attemptOf(probe) };
}

function probeTarget(role: Started["services"][number]["role"], base: string): Pick<Probe, "kind" | "url"> {
  switch (role) {
    case "mcp":
      return { kind: "mcp", url: `${base}/mcp` };
    case "backend":
      return { kind: "backend", url: base };
    case "frontend":
      return { kind: "tcp", url: base.replace(/^http:/, "tcp:") };
    case "gateway":
      return { kind: "http", url: `${base}/health` };
  }
}

/**
 * Waits until all checks hold, and says every `sayEveryMs` for which it waits. Throws a UserError at the first that doesn't within
 * its budget, or when a service ends: it names the service, the probe and its last reason, and shows the last 30 lines of its log.
 */
export async function allReady(started: Started, checks: readonly Check[], sayEveryMs = SAY_EVERY_MS): Promise<void> {
  const { context, deploymentId, session } = started;
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  const waiting = new Set(checks.map(({ service }) => service));
  // Why not yet, as far as this machine sees it.
  const reasons = new Map<string, string>();

  const failure = Promise.withResolvers<never>();
  const settle = (service: string, { name, ok, reason, afterMs }: ProbeResult): void => {
    const after = `after ${(afterMs / 1000).toFixed(1)} s`;
    if (!ok) {
      failure.reject(new NotReady(service, `probe ${name}, ${after}`, reason));
      return;
    }
    waiting.delete(service);
    reasons.delete(service);
    const what = name === service ? "is ready" : `answers ${name}`;
    context.emit({ kind: "deploy", entry: deploymentId, phase: "probe", message: `${service} ${what} ${after}` });
  };
  const here = checks.map(async (check) => {
    if (check.from === "here") settle(check.service, await settled(check, signal, (reason) => reasons.set(check.service, reason)));
  });
  const all = [...here, probedInside(session, checks, settle, signal), noneEnds(session, waiting, signal)];
  const since = performance.now();
  const saying = setInterval(() => {
    const waitedFor = [...waiting].map((service) => [service, reasons.get(service) ?? "not ready yet"].join(": "));
    const seconds = Math.round((performance.now() - since) / 1000);
    context.emit({ kind: "wait", entry: deploymentId, message: `after ${seconds} s still waiting for ${waitedFor.join("; ")}` });
  }, sayEveryMs);
  try {
    await Promise.race([failure.promise, Promise.all(all)]);
  } catch (error) {
    throw error instanceof NotReady ? await explained(error, started) : error;
  } finally {
    clearInterval(saying);
    stop.abort();
    await Promise.allSettled(all);
  }
}

async function probedInside(
  session: Started["session"],
  checks: readonly Check[],
  settle: (service: string, result: ProbeResult) => void,
  signal: AbortSignal,
): Promise<void> {
  const inside = checks.filter((check) => check.from === "inside");
  const settleByName = (result: ProbeResult): void => {
    const check = inside.find(({ probe }) => probe.name === result.name);
    if (check) settle(check.service, result);
  };
  const results = await session.probeInside(
    inside.map(({ probe }) => probe),
    settleByName,
    signal,
  );
  // What ended without saying so as it happened.
  for (const result of results) if (!result.ok) settleByName(result);
}

/** Ends when no service is waited for any more; throws when one that is has ended. */
async function noneEnds(session: Started["session"], waiting: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
  while (waiting.size > 0) {
    for (const service of waiting) {
      const ended = await session.exited(service);
      if (ended !== null) throw new NotReady(service, "before any probe succeeded", ended);
    }
    await pause(LOOK_EVERY_MS, signal);
  }
}

class NotReady extends Error {
  readonly service: string;
  readonly when: string;
  readonly reason: string;

  constructor(service: string, when: string, reason: string) {
    super(`${service}: ${reason}`);
    this.service = service;
    this.when = when;
    this.reason = reason;
  }
}

async function explained({ service, when, reason }: NotReady, { session, options, context }: Started): Promise<UserError> {
  const written = (await session.logs(service, LOG_LINES)).trimEnd();
  const log = written
    .split("\n")
    .map((line) => (line.length > LINE_LENGTH ? `${line.slice(0, LINE_LENGTH)} …` : line))
    .join("\n");
  const sandbox = context.plugins.sandboxes.find(options.sandbox);
  const kind = sandbox?.provider.capabilities.image === "source" ? "process" : "container";
  return new UserError({
    what: `the ${kind} ${service} is not ready (${when}): ${reason}`,
    why: log === "" ? "it has written nothing" : `its last lines:\n${log}`,
    next: log === "" ? "start it by itself and see that it answers, then deploy again" : "mend what they name, then deploy again",
  });
}
