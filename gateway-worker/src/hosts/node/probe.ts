import { connect } from "node:net";
import { CARD_PATH, joined, LATEST_LEGACY_VERSION, UserError } from "@agent-env/protocol";
import { z } from "zod";
import { textOf } from "../../core/body.ts";
import { readingOf } from "../../core/deployment/card-reading.ts";
import { BadAnswer } from "../../core/mcp/bad-answer.ts";
import { exchange } from "../../core/mcp/exchange.ts";
import { Fault } from "../../core/seam.ts";
import { pause, within } from "../../core/timing.ts";
import { faultOf, upstream } from "./upstream.ts";

const EVERY_MS = 250;
const ONE_TRY_MS = 5_000;
const MAX_BYTES = 16_777_216;

const Probe = z.object({
  name: z.string(),
  kind: z.enum(["tcp", "http", "mcp", "backend"]),
  url: z.url(),
  budgetSeconds: z.number().nonnegative(),
});
type Probe = z.infer<typeof Probe>;

/** Null: ready. Else why not yet. */
type Verdict = string | null;

/**
 * Probes everything in `text`, a JSON list of `{name, kind, url, budgetSeconds}`, at once, and prints a JSON line for each as
 * it settles. Gives the exit code: 0 if all are ready.
 */
export async function runProbes(text: string): Promise<0 | 1> {
  const probes = parsedProbes(text);
  const outcomes = await Promise.all(probes.map(untilReady));
  return outcomes.every((isReady) => isReady) ? 0 : 1;
}

function parsedProbes(text: string): Probe[] {
  try {
    return z.array(Probe).parse(JSON.parse(text));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : "it is not JSON";
    throw new UserError(
      { what: "GATEWAY_PROBES", why, next: 'give a JSON list of {"name","kind","url","budgetSeconds"}', exitCode: 2 },
      { cause: error },
    );
  }
}

async function untilReady(probe: Probe): Promise<boolean> {
  const began = Date.now();
  const deadline = began + probe.budgetSeconds * 1000;
  let reason: Verdict = "no answer";
  do {
    const tried = Date.now();
    const verdict = await within(once(probe), Math.min(ONE_TRY_MS, Math.max(EVERY_MS, deadline - tried)));
    reason = verdict === undefined ? "no answer in time" : verdict;
    if (reason !== null) await pause(Math.min(EVERY_MS - (Date.now() - tried), deadline - Date.now()));
  } while (reason !== null && Date.now() < deadline);
  process.stdout.write(`${JSON.stringify({ name: probe.name, ok: reason === null, reason, afterMs: Date.now() - began })}\n`);
  return reason === null;
}

async function once({ kind, url }: Probe): Promise<Verdict> {
  try {
    switch (kind) {
      case "tcp":
        return await connects(url);
      case "http":
        return isOk((await get(url)).status);
      case "mcp":
        return await speaksMcp(url);
      case "backend":
        return await isBackend(url);
    }
  } catch (error) {
    if (error instanceof Fault) return error.reason;
    if (error instanceof BadAnswer) return error.message;
    throw error;
  }
}

function connects(url: string): Promise<Verdict> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) });
    socket.setTimeout(ONE_TRY_MS, () => socket.destroy(new Fault("timeout", "no connection in time")));
    socket.on("connect", () => {
      socket.destroy();
      resolve(null);
    });
    socket.on("error", (error) => resolve(faultOf(error).reason));
  });
}

function isOk(status: number): Verdict {
  return status >= 200 && status < 300 ? null : `HTTP ${status}`;
}

async function get(url: string): Promise<{ status: number; text: string }> {
  const response = await upstream({ method: "GET", url, headers: [], body: null, idleMs: ONE_TRY_MS }).response;
  return { status: response.status, text: await textOf(response, MAX_BYTES) };
}

/** `GET /ready` 200, else an `initialize` that is answered (3-wire §mcp). */
async function speaksMcp(url: string): Promise<Verdict> {
  const params = { protocolVersion: LATEST_LEGACY_VERSION, capabilities: {}, clientInfo: { name: "agent-env-probe", version: "0.1.0" } };
  const answered = await exchange(
    { upstream },
    {
      url,
      message: { jsonrpc: "2.0", id: 1, method: "initialize", params },
      session: undefined,
      version: undefined,
      fields: [],
      silenceMs: ONE_TRY_MS,
      maxBytes: MAX_BYTES,
      heard: () => undefined,
    },
  );
  if (answered.status === 200 && answered.reply?.["result"] !== undefined) return null;
  return (await get(new URL("/ready", url).href)).status === 200 ? null : `HTTP ${answered.status} for initialize`;
}

/** `/api/health` 2xx; on 404 there, the card or its 404. */
async function isBackend(url: string): Promise<Verdict> {
  const health = await get(joined(url, "/api/health"));
  if (health.status !== 404) return isOk(health.status);
  const card = await get(joined(url, CARD_PATH));
  const reading = readingOf(card.status, card.text);
  return reading.is === "unsettled" ? reading.reason : null;
}
