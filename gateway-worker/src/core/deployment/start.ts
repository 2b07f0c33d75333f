import { joined } from "@agent-env/protocol";
import { inBackground } from "../background.ts";
import { sharedOriginWarning } from "../proxy/site/shared-origin.ts";
import { pause, within } from "../timing.ts";
import type { Backing } from "./backing.ts";
import type { Deployment } from "./deployment.ts";
import { servingKey } from "./serving-key.ts";
import { secondsTime } from "./state.ts";

const EVERY_MS = 1_000;
const READY_PROBE_MS = 5_000;

/** A deployment that did not come up within its budget. The message names the servers and the last reasons. */
export class StartFailed extends Error {}

export type Waiting = { readonly name: string; readonly kind: "mcp" | "website"; readonly reason: string | null; readonly since: string };

/**
 * Waits until every MCP server answers and every site's card is settled, then makes the deployment ready. Throws
 * `StartFailed` when the budget ends first (3-wire §gateway, start).
 */
export async function start(deployment: Deployment): Promise<void> {
  const { settings, now, backings } = deployment;
  const deadline = now() + settings.startBudgetMs;
  await Promise.all(backings.map((backing) => settle(deployment, backing, deadline)));
  const failed = failureText(backings, settings.startBudgetMs);
  if (failed !== null) {
    deployment.notReady = failed;
    throw new StartFailed(failed);
  }
  markReady(deployment);
}

/** Goes on where the deployment was before its object left memory. False if with these servers it has never been ready. */
export function resume(deployment: Deployment): boolean {
  const { host, backings } = deployment;
  const row = host.sql.exec("SELECT value FROM facts WHERE name = 'ready_with'")[0];
  if (row?.["value"] !== servingKey(host.record())) return false;
  for (const backing of backings) {
    deployment.takeRemembered(backing);
    backing.mcp?.assumeUp();
    backing.isSettled = true;
    if (backing.server.kind === "website") inBackground(host, deployment.cards.read(backing));
  }
  deployment.notReady = null;
  return true;
}

/** What a deployment still waits for. */
export function waitingFor(deployment: Deployment): Waiting[] {
  return deployment.backings.filter(isWaiting).map((backing) => ({
    name: backing.server.name,
    kind: backing.server.kind,
    reason: reasonOf(backing),
    since: secondsTime(backing.sinceMs),
  }));
}

function markReady(deployment: Deployment): void {
  const { host } = deployment;
  host.sql.exec("INSERT OR REPLACE INTO facts (name, value) VALUES ('ready_with', ?)", servingKey(host.record()));
  deployment.notReady = null;
  const warning = sharedOriginWarning(host.sql, host.record().servers);
  if (warning !== null) host.log(`warning: ${warning}`);
}

async function settle(deployment: Deployment, backing: Backing, deadline: number): Promise<void> {
  const { now } = deployment;
  while (isWaiting(backing) && now() < deadline) {
    const began = now();
    await within(tryOnce(deployment, backing), deadline - began);
    const restMs = Math.min(EVERY_MS - (now() - began), deadline - now());
    if (isWaiting(backing) && restMs > 0) await pause(restMs);
  }
}

async function tryOnce(deployment: Deployment, backing: Backing): Promise<void> {
  if (backing.server.kind === "website") {
    await deployment.cards.read(backing);
    return;
  }
  const { mcp } = backing;
  if (mcp === null) throw new Error(`MCP server ${backing.server.name} without a connection`);
  const isUp = (await mcp.link.probe()) || (await saysReady(deployment, backing));
  if (isUp) await Promise.all([mcp.base.read(), deployment.cards.read(backing)]);
}

/** `GET /ready` is optional; 200 means ready. */
async function saysReady(deployment: Deployment, backing: Backing): Promise<boolean> {
  const url = joined(backing.server.url, "/ready");
  const probe = deployment.host.upstream({ method: "GET", url, headers: [], body: null, idleMs: READY_PROBE_MS });
  const answered = await within(
    probe.response.then(
      (response) => {
        response.discard();
        return response.status === 200;
      },
      () => false,
    ),
    READY_PROBE_MS,
  );
  if (answered === undefined) probe.abort();
  if (answered === true) backing.mcp?.assumeUp();
  return answered === true;
}

function isWaiting({ server, mcp, isSettled }: Backing): boolean {
  return server.kind === "mcp" ? mcp?.link.state.status === "starting" : !isSettled;
}

function reasonOf({ server, mcp, cardTrouble }: Backing): string | null {
  return server.kind === "mcp" ? (mcp?.link.state.reason ?? null) : cardTrouble;
}

function failureText(backings: readonly Backing[], budgetMs: number): string | null {
  const named = (kind: "mcp" | "website") =>
    backings
      .filter((backing) => backing.server.kind === kind && isWaiting(backing))
      .map((backing) => `${backing.server.name} (${reasonOf(backing) ?? "no answer"})`)
      .join(", ");
  const servers = named("mcp");
  const sites = named("website");
  const after = `after ${budgetMs / 1000}s`;
  const texts = [
    ...(servers === "" ? [] : [`MCP server(s) not ready ${after}: ${servers}`]),
    ...(sites === "" ? [] : [`Website card(s) not readable ${after}: ${sites}`]),
  ];
  return texts.length === 0 ? null : texts.join("; ");
}
