import { isJsonObject, type JsonObject } from "@agent-env/protocol";
import { inBackground } from "../background.ts";
import type { Host } from "../seam.ts";
import { Cancellation } from "./cancellation.ts";
import { isWanted } from "./log-level.ts";
import type { Turn } from "./turn.ts";
import type { UpstreamSession } from "./upstream-session.ts";

/** How long a cancelled call's server may still take notice. */
const CANCEL_GRACE_MS = 1_000;

/** One request under way: whose it is, what of the server's notifications its caller sees, and how it is cancelled. */
export class LiveCall {
  readonly #host: Host;
  readonly cancellation = new Cancellation();
  readonly #token: unknown;
  /** The token of ours that a server sees in place of the caller's, which others may use as well. */
  readonly #ownToken: number;
  /** Where it goes on: a held call has one turn after the other. */
  turn: Turn;
  session: UpstreamSession | null = null;
  isCancelled = false;
  #sentId: number | null = null;
  #progress = Number.NEGATIVE_INFINITY;

  constructor(host: Host, turn: Turn, options: { token: unknown; ownToken: number }) {
    this.#host = host;
    this.turn = turn;
    this.#token = options.token;
    this.#ownToken = options.ownToken;
  }

  /** The token to send; undefined where the caller wants no progress. */
  get tokenToSend(): number | undefined {
    return this.#token === undefined ? undefined : this.#ownToken;
  }

  /** It was sent under this id. */
  sent(id: number): void {
    this.#sentId = id;
  }

  /** Passes a server's notification on, if the caller is to see it. */
  heard(said: JsonObject): void | Promise<void> {
    const shown = this.isCancelled ? null : this.#shown(said);
    return shown === null ? undefined : this.turn.answer.say(shown);
  }

  /** Cancels the call at its server, under the server's id, and gives up waiting for it. */
  cancel(reason: unknown): void {
    if (this.isCancelled) return;
    this.isCancelled = true;
    if (this.session === null) {
      this.cancellation.cancel();
      return;
    }
    const params = { requestId: this.#sentId, ...(reason === undefined ? {} : { reason }) };
    const notice = { jsonrpc: "2.0", method: "notifications/cancelled", params };
    if (this.#sentId !== null) inBackground(this.#host, this.session.notify(notice));
    setTimeout(() => this.cancellation.cancel(), CANCEL_GRACE_MS);
  }

  /** Progress under the caller's own token and only rising; log lines that it asked for. */
  #shown(said: JsonObject): JsonObject | null {
    const { method, params } = said;
    if (method === "notifications/message") return isWanted(said, this.turn.logLevel) ? said : null;
    if (method === "notifications/elicitation/complete" || method === "notifications/tasks/status")
      return this.turn.era === "legacy" ? said : null;
    if (method !== "notifications/progress" || !isJsonObject(params) || params["progressToken"] !== this.#ownToken) return null;
    const progress = Number(params["progress"]);
    if (this.#token === undefined || !(progress > this.#progress)) return null;
    this.#progress = progress;
    return { ...said, params: { ...params, progressToken: this.#token } };
  }
}
