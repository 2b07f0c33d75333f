import { z } from "zod";
import type { Vault } from "../deployment/vault.ts";
import type { In } from "../seam.ts";

/** The one route that it opens: servers, which have no token, ask for the universe's time there. */
export const CLOCK_TIME_PATH = "/clock/time";
const PARAM = "key";

/** An object, so that nothing else that is sealed is ever read as one. */
const Sealed = z.strictObject({ clock: z.string() });

/** The query key that a deployment's servers read its time with where callers need tokens (3-wire §clock). */
export class ClockKey {
  readonly #vault: Vault;
  readonly #deployment: string;

  constructor(vault: Vault, deployment: string) {
    this.#vault = vault;
    this.#deployment = deployment;
  }

  /** What is put behind the address of the time. */
  async query(): Promise<string> {
    return `?${PARAM}=${await this.#vault.seal(JSON.stringify({ clock: this.#deployment }))}`;
  }

  /** Whether a request to that route has the key. */
  async opens({ method, path }: In): Promise<boolean> {
    const [fixed, query = ""] = (path ?? "").split("?");
    const key = fixed === CLOCK_TIME_PATH && ["GET", "HEAD"].includes(method) ? new URLSearchParams(query).get(PARAM) : null;
    const text = key === null ? null : await this.#vault.open(key);
    return text !== null && Sealed.safeParse(JSON.parse(text)).data?.clock === this.#deployment;
  }
}
