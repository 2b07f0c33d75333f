import { connect } from "node:net";
import { CARD_PATH, Card, joined, jsonOf } from "@agent-env/protocol";
import type { Probe, ProbeResult } from "../providers/sandbox/provider.ts";
import { failureReason } from "./failure-reason.ts";
import { answersMcp } from "./mcp-answer.ts";
import { pause } from "./until.ts";

const EVERY_MS = 100;
/** A single try that gets no answer within this has failed; the probe goes on. */
const TRY_BUDGET_MS = 5_000;

/** One try: null when the thing is ready, else why not. What it throws is a reason too. */
export type Attempt = (signal: AbortSignal) => Promise<string | null>;

export type NamedAttempt = { readonly name: string; readonly budgetSeconds: number; readonly attempt: Attempt };

/**
 * Tries until the thing is ready or the budget is over; the result then holds the last reason, and `onReason` is told each.
 * Rejects with `signal.reason` when it is aborted.
 */
export async function settled(
  { name, budgetSeconds, attempt }: NamedAttempt,
  signal: AbortSignal,
  onReason: (reason: string) => void = () => {},
): Promise<ProbeResult> {
  const started = performance.now();
  const afterMs = () => Math.round(performance.now() - started);
  for (;;) {
    signal.throwIfAborted();
    const reason = await oneTry(attempt, signal);
    if (reason === null) return { name, ok: true, reason: "ready", afterMs: afterMs() };
    onReason(reason);
    if (afterMs() >= budgetSeconds * 1000) return { name, ok: false, reason, afterMs: afterMs() };
    await pause(EVERY_MS, signal);
  }
}

/** A probe of an address that this machine reaches. */
export function attemptOf(probe: Probe): Attempt {
  switch (probe.kind) {
    case "tcp":
      return (signal) => connects(probe.url, signal);
    case "http":
      return async (signal) => statusReason(await answer(probe.url, signal));
    case "mcp":
      return (signal) => mcpIsReady(probe.url, signal);
    case "backend":
      return (signal) => backendIsReady(probe.url, signal);
  }
}

async function oneTry(attempt: Attempt, signal: AbortSignal): Promise<string | null> {
  try {
    return await attempt(AbortSignal.any([signal, AbortSignal.timeout(TRY_BUDGET_MS)]));
  } catch (error) {
    signal.throwIfAborted();
    return failureReason(error);
  }
}

/** `GET /ready` of the server, where it has that route; else MCP itself has to answer: a 404 or 406 there proves nothing (3-wire §mcp). */
async function mcpIsReady(url: string, signal: AbortSignal): Promise<string | null> {
  const ready = await answer(new URL("/ready", url).href, signal);
  if (ready.status === 200) return null;
  return (await answersMcp(url, signal)) ? null : `neither GET /ready (HTTP ${ready.status}) nor MCP at ${new URL(url).pathname} answers`;
}

/** `/api/health` where it has that route; else its card, or its saying that it has none (3-wire §topology). */
async function backendIsReady(url: string, signal: AbortSignal): Promise<string | null> {
  const health = await answer(joined(url, "/api/health"), signal);
  if (health.status !== 404) return statusReason(health);
  const card = await answer(joined(url, CARD_PATH), signal);
  if (card.status === 404) return null;
  if (card.status !== 200) return `its card: HTTP ${card.status}`;
  return cardIn(card.text) === null ? "its card: no JSON object with a name" : null;
}

export type Answer = { readonly status: number; readonly text: string };

/** A GET. Redirects are not followed: what is ready answers for itself. */
export async function answer(url: string, signal: AbortSignal, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const response = await fetch(url, { signal, headers, redirect: "manual" });
  return { status: response.status, text: await response.text() };
}

/** Ready once anything answers there, whatever it says. */
export function listens(url: string): Attempt {
  return async (signal) => {
    await answer(url, signal);
    return null;
  };
}

/** The card in a body, or null when it holds none. */
export function cardIn(text: string): Card | null {
  return Card.safeParse(jsonOf(text)).data ?? null;
}

function statusReason({ status, text }: Answer): string | null {
  if (status >= 200 && status < 300) return null;
  const said = text.trim().replace(/\s+/g, " ").slice(0, 200);
  return said === "" ? `HTTP ${status}` : `HTTP ${status}: ${said}`;
}

function connects(url: string, signal: AbortSignal): Promise<string | null> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), signal });
    socket.once("connect", () => {
      socket.destroy();
      resolve(null);
    });
    socket.once("error", reject);
  });
}
