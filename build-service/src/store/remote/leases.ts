import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { UserError } from "@agent-env/protocol";
import { z } from "zod";
import { sha256Hex } from "../../bundle/ids.ts";
import { parseStored } from "../json.ts";
import type { Lock, StoreSide } from "../store.ts";
import { conditionalPut } from "./objects.ts";
import type { S3 } from "./s3.ts";
import type { LeaseTiming } from "./timing.ts";

/** What lies in `locks/`. Each renewal counts up, so that no two states have one etag. `holder` is null when it is free. */
const LeaseState = z.object({ name: z.string(), owner: z.string(), holder: z.string().nullable(), renewals: z.int() });
type LeaseState = z.infer<typeof LeaseState>;

export type Leases = {
  readonly lock: StoreSide["lock"];
  /** Throws a UserError when a lease that this process took has been lost, or may have been. Asked before each write. */
  assertHeld(): void;
};

/**
 * Locks as leases: an object in `locks/`, taken, renewed and given back by compare-and-swap only. R2 has no connection that
 * would end with a process, so a lease that was not renewed for `voidAfterMs` may be taken by another.
 *
 * How long ago that was is read from R2's own clock (`Date` less `Last-Modified` of one answer): the clocks of two machines
 * need not agree. Both have whole seconds, so one second is added.
 *
 * A holder that stalled (a suspended machine, a cut network) must not write on. It counts from *before* its last renewal was
 * sent, which is earlier than R2 dates it, and stops `marginMs` ahead of the end: from then on every write through this store
 * is refused until the lease is let go. What was sent just before may still arrive late. That is harmless by what is written:
 * versions and build rows are create-only, so a late one loses and is told; pointers only move forward, by compare-and-swap;
 * blobs are named by their digest.
 */
export function leasesOver(s3: S3, timing: LeaseTiming): Leases {
  const held = new Set<HeldLease>();
  return {
    async lock(name, owner, onWait, signal) {
      const lease = await take(s3, timing, { name, owner, onWait, signal });
      held.add(lease);
      return {
        async release() {
          held.delete(lease);
          await lease.release();
        },
      };
    },
    assertHeld() {
      for (const lease of held) lease.assertHeld();
    },
  };
}

type HeldLease = Lock & { assertHeld(): void };
type Wish = {
  readonly name: string;
  readonly owner: string;
  readonly onWait: (holder: string) => void;
  readonly signal: AbortSignal;
};

async function take(s3: S3, timing: LeaseTiming, { name, owner, onWait, signal }: Wish): Promise<HeldLease> {
  const key = `locks/${sha256Hex(name).slice(0, 32)}.json`;
  const state: LeaseState = { name, owner, holder: randomBytes(12).toString("hex"), renewals: 0 };
  let isTold = false;
  for (;;) {
    signal.throwIfAborted();
    const sent = now();
    const there = await read(s3, key);
    if (there === null || there.state.holder === null || there.ageMs > timing.voidAfterMs + 1000) {
      const condition = there === null ? (["if-none-match", "*"] as const) : (["if-match", `"${there.etag}"`] as const);
      const etag = await conditionalPut(s3, { key, content: textOf(state), metadata: {}, condition });
      if (etag !== null) return hold(s3, timing, { key, state, etag, sent });
      continue;
    }
    if (!isTold) onWait(there.state.owner);
    isTold = true;
    await delay(timing.lookEveryMs, undefined, { signal });
  }
}

async function read(s3: S3, key: string): Promise<{ readonly state: LeaseState; readonly etag: string; readonly ageMs: number } | null> {
  const answer = await s3({ method: "GET", key });
  if (answer.status === 404) return null;
  const { headers, body } = answer;
  const ageMs = Date.parse(headers.get("date") ?? "") - Date.parse(headers.get("last-modified") ?? "");
  if (Number.isNaN(ageMs)) throw new Error(`${key}: R2 gave no date, so nobody can tell whether the lease is void`);
  return { state: parseStored(key, body, LeaseState), etag: (headers.get("etag") ?? "").replaceAll('"', ""), ageMs };
}

function hold(
  s3: S3,
  timing: LeaseTiming,
  taken: { readonly key: string; readonly state: LeaseState; readonly etag: string; readonly sent: Instant },
): HeldLease {
  const { key } = taken;
  let { state, etag, sent } = taken;
  let why: string | null = null;
  let renewing = Promise.resolve();

  async function renew(): Promise<void> {
    const start = now();
    const next = { ...state, renewals: state.renewals + 1 };
    try {
      const renewed = await conditionalPut(s3, { key, content: textOf(next), metadata: {}, condition: ["if-match", `"${etag}"`] });
      if (renewed === null) why = "another took it over, since it had not been renewed in time";
      else [state, etag, sent] = [next, renewed, start];
    } catch (error) {
      // Tried again at the next tick; without success the lease runs out, and this is why.
      if (error instanceof UserError) lastReason = `${error.message}; ${error.why}`;
      else throw error;
    }
  }

  let lastReason = "the machine or the process stood still";
  let isRenewing = false;
  const timer = setInterval(() => {
    if (isRenewing || why !== null) return;
    isRenewing = true;
    renewing = renew().finally(() => {
      isRenewing = false;
    });
  }, timing.renewEveryMs);
  timer.unref();

  return {
    assertHeld() {
      const leftMs = timing.voidAfterMs - timing.marginMs - since(sent);
      if (why === null && leftMs <= 0) why = `it was not renewed for ${Math.round(since(sent) / 1000)} s: ${lastReason}`;
      if (why === null) return;
      throw new UserError({
        what: `${state.name}: this process no longer holds its lock, so it has stopped writing`,
        why,
        next: "run the command again: what was written before stays, and it goes on from there",
      });
    },
    async release() {
      clearInterval(timer);
      await renewing;
      if (why !== null) return;
      const free = { ...state, holder: null, renewals: state.renewals + 1 };
      try {
        await conditionalPut(s3, { key, content: textOf(free), metadata: {}, condition: ["if-match", `"${etag}"`] });
      } catch (error) {
        // The lease then runs out by itself, and the command has done what it was asked to.
        if (!(error instanceof UserError)) throw error;
      }
    },
  };
}

type Instant = { readonly wall: number; readonly steady: number };
const now = (): Instant => ({ wall: Date.now(), steady: performance.now() });

/** The steady clock stands still while a machine sleeps, the other may be set back: the later of the two counts. */
const since = (then: Instant): number => Math.max(Date.now() - then.wall, performance.now() - then.steady);

const textOf = (state: LeaseState): string => `${JSON.stringify(state)}\n`;
