import type { JsonObject } from "@agent-env/protocol";
import type { Limits } from "../limits.ts";
import { Fault } from "../seam.ts";
import { pause, within } from "../timing.ts";
import { BadAnswer, HandshakeFailed } from "./bad-answer.ts";
import type { Ask, Channel } from "./channel.ts";
import type { Answered } from "./exchange.ts";
import { Slots } from "./slots.ts";
import { SessionLost } from "./upstream-session.ts";

const PROBE_FIRST_MS = 250;
const PROBE_LAST_MS = 5_000;
/** With nobody waiting, a server that stays away is left alone after this long, until the next call. */
const PROBE_FOR_MS = 600_000;

/** Why a request has no answer of the server's. `delivered`: whether it reached the server; null is unknown. */
export type Trouble = {
  readonly reason: "server_down" | "busy" | "outcome_unknown" | "timeout" | "refused" | "bad_answer";
  readonly detail: string;
  readonly delivered: boolean | null;
};

/** What came of a request: the server's reply and the form it came in, or why there is none. `status` is HTTP's, if there was any. */
export type Outcome =
  | { readonly reply: JsonObject; readonly status: number; readonly isStream: boolean }
  | { readonly trouble: Trouble; readonly status?: number };

export type LinkStatus = { readonly status: "starting" | "up" | "down"; readonly reason: string | null; readonly sinceMs: number };

export type LinkOptions = {
  /** Asks the server who it is. Throws `Fault`, `BadAnswer` and `SessionLost`: then it isn't there. */
  readonly greet: () => Promise<void>;
  readonly waitMs: number;
  readonly limits: Pick<Limits, "maxCalls" | "maxWaitingCalls">;
  readonly now: () => number;
  readonly cameUp: () => void;
  readonly background: (work: Promise<void>) => void;
};

/** One server's connection: its circuit and its queue. Nothing here is shared with another server. */
export class Link {
  readonly #options: LinkOptions;
  readonly #slots: Slots;
  #state: LinkStatus;
  /** Set while calls wait for the server: settles when it is back. */
  #wakeUp: PromiseWithResolvers<void> | null = null;
  #isProbing = false;
  #lastWanted = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#slots = new Slots(options.limits.maxCalls, options.limits.maxWaitingCalls);
    this.#state = { status: "starting", reason: null, sinceMs: options.now() };
  }

  get state(): LinkStatus {
    return this.#state;
  }

  /** Asks the server once whether it is there. The answer is its status from now on, with the reason in it. */
  async probe(): Promise<boolean> {
    try {
      await this.#options.greet();
    } catch (error) {
      this.#isGone(reasonOf(error));
      return false;
    }
    this.#isBack();
    return true;
  }

  /** Takes the server for up: it was when the deployment's object was last in memory. */
  assumeUp(): void {
    this.#set("up", null);
  }

  /** Marks the server down, and looks for it again until it is back. */
  lost(reason: string): void {
    this.#isGone(reason);
    this.look();
  }

  /** Looks for a server that isn't up, in the background. */
  look(): void {
    this.#lastWanted = this.#options.now();
    if (this.#state.status !== "up") this.#options.background(this.#probeUntilBack());
  }

  /**
   * Sends a request to the server. It is sent again only if it surely never arrived, or if it may be repeated
   * (2-architecture, "when is a retry safe").
   */
  async request(channel: Channel, ask: Ask, mayRepeat: boolean): Promise<Outcome> {
    const slot = this.#slots.take();
    if (slot === null) return { trouble: { reason: "busy", detail: "too many calls are waiting for it", delivered: false } };
    await slot;
    try {
      return await this.#send(channel, ask, mayRepeat);
    } finally {
      this.#slots.give();
    }
  }

  async #send(channel: Channel, ask: Ask, mayRepeat: boolean): Promise<Outcome> {
    const deadline = this.#options.now() + this.#options.waitMs;
    for (let repeated = false; ; ) {
      if (this.#state.status !== "up" && !(await this.#backBy(deadline))) return this.#down();
      let isOpen = false;
      try {
        await channel.opened();
        isOpen = true;
        return outcomeOf(await channel.request(ask));
      } catch (error) {
        const verdict = this.#verdict(error, {
          isOpen,
          mayRepeat: mayRepeat && !repeated,
          isCancelled: ask.cancellation?.isCancelled === true,
        });
        if (verdict !== "again") return { trouble: verdict };
        if (isOpen && !(error instanceof Fault && error.kind === "refused")) repeated = true;
        if (this.#options.now() >= deadline) return this.#down();
      }
    }
  }

  #verdict(error: unknown, sent: { isOpen: boolean; mayRepeat: boolean; isCancelled: boolean }): Trouble | "again" {
    if (error instanceof BadAnswer || error instanceof SessionLost)
      return { reason: "bad_answer", detail: error.message, delivered: sent.isOpen && !(error instanceof HandshakeFailed) };
    if (!(error instanceof Fault)) throw error;
    if (sent.isCancelled) return { reason: "outcome_unknown", detail: "cancelled", delivered: null };
    if (error.kind === "timeout" && sent.isOpen) return { reason: "timeout", detail: error.reason, delivered: true };
    const surelyNot = error.kind === "refused" || !sent.isOpen;
    this.lost(error.reason);
    if (surelyNot || sent.mayRepeat) return "again";
    return { reason: "outcome_unknown", detail: `${error.reason}; the call may have run`, delivered: null };
  }

  #down(): Outcome {
    return { trouble: { reason: "server_down", detail: `${this.#state.reason ?? "down"}; the call was not sent`, delivered: false } };
  }

  /** Waiting calls share one wake-up. */
  async #backBy(deadline: number): Promise<boolean> {
    const leftMs = deadline - this.#options.now();
    if (leftMs <= 0) return false;
    this.#wakeUp ??= Promise.withResolvers<void>();
    const wakeUp = this.#wakeUp;
    this.look();
    return (
      (await within(
        wakeUp.promise.then(() => true),
        leftMs,
      )) === true
    );
  }

  async #probeUntilBack(): Promise<void> {
    if (this.#isProbing) return;
    this.#isProbing = true;
    try {
      let pauseMs = 0;
      while (this.#state.status !== "up" && this.#options.now() - this.#lastWanted < PROBE_FOR_MS) {
        await pause(pauseMs);
        await this.probe();
        pauseMs = Math.min(Math.max(pauseMs * 2, PROBE_FIRST_MS), PROBE_LAST_MS);
      }
    } finally {
      this.#isProbing = false;
    }
  }

  #isGone(reason: string): void {
    this.#set(this.#state.status === "starting" ? "starting" : "down", reason);
  }

  #isBack(): void {
    const wasUp = this.#state.status === "up";
    this.#set("up", null);
    this.#wakeUp?.resolve();
    this.#wakeUp = null;
    if (!wasUp) this.#options.cameUp();
  }

  #set(status: LinkStatus["status"], reason: string | null): void {
    const sinceMs = status === this.#state.status ? this.#state.sinceMs : this.#options.now();
    this.#state = { status, reason, sinceMs };
  }
}

/** The server's own JSON-RPC answer, or what its status says. */
function outcomeOf({ status, reply, isStream }: Answered): Outcome {
  if (reply !== undefined && (status === 200 || status === 400 || status === 404)) return { reply, status, isStream };
  return { trouble: { reason: "refused", detail: `HTTP ${status}`, delivered: status >= 400 && status < 500 ? false : null }, status };
}

function reasonOf(error: unknown): string {
  if (error instanceof Fault) return error.reason;
  if (error instanceof BadAnswer || error instanceof SessionLost) return error.message;
  throw error;
}
