import { isJsonObject, type JsonObject } from "@agent-env/protocol";
import { z } from "zod";
import type { Vault } from "../deployment/vault.ts";
import { sha256Hex } from "../sha256.ts";

/** Before what is ours: any other state is the server's, and passes untouched. */
const MARK = "agentenv.";

/** `[what, deployment, caller, server, digest, expiry, boot, number used once]`. */
const Sealed = z.tuple([z.enum(["held", "again"]), z.string(), z.string(), z.string(), z.string(), z.number(), z.string(), z.string()]);

/** What a state of ours is about. */
export type StateOf = {
  /** A call that waits at its server, or one to be made again. */
  readonly what: "held" | "again";
  readonly caller: string;
  readonly server: string;
  readonly digest: string;
};
export type OpenedState = StateOf & { readonly boot: string; readonly number: string };

/** The `requestState`s that the gateway itself gives out: sealed, for one caller and one request, until they expire. */
export class RequestStates {
  readonly #vault: Vault;
  readonly #deployment: string;
  readonly #validMs: number;
  readonly #now: () => number;
  /** Held calls don't survive the gateway. */
  readonly boot = crypto.randomUUID();

  constructor(options: { vault: Vault; deployment: string; validMs: number; now: () => number }) {
    this.#vault = options.vault;
    this.#deployment = options.deployment;
    this.#validMs = options.validMs;
    this.#now = options.now;
  }

  /** Whether a state claims to be one of ours. */
  isOurs(state: unknown): state is string {
    return typeof state === "string" && state.startsWith(MARK);
  }

  async seal(of: StateOf, number: string): Promise<string> {
    const { what, caller, server, digest } = of;
    const sealed: z.infer<typeof Sealed> = [what, this.#deployment, caller, server, digest, this.#now() + this.#validMs, this.boot, number];
    return MARK + (await this.#vault.seal(JSON.stringify(sealed)));
  }

  /** What a state says; null for one that was changed, has expired, or is for another caller or request. */
  async open(state: string, asked: Omit<StateOf, "what">): Promise<OpenedState | null> {
    const text = await this.#vault.open(state.slice(MARK.length));
    const sealed = text === null ? undefined : Sealed.safeParse(JSON.parse(text)).data;
    if (sealed === undefined) return null;
    const [what, deployment, caller, server, digest, expiry, boot, number] = sealed;
    const fits = deployment === this.#deployment && caller === asked.caller && server === asked.server && digest === asked.digest;
    return fits && expiry >= this.#now() ? { what, caller, server, digest, boot, number } : null;
  }
}

/** What makes two requests one: method, name and arguments. */
export function requestDigest(message: JsonObject): string {
  const params = isJsonObject(message["params"]) ? message["params"] : {};
  const { _meta, inputResponses, requestState, ...asked } = params;
  return sha256Hex(JSON.stringify([message["method"], asked]));
}
