import type { JsonObject } from "@agent-env/protocol";
import type { Field, Host } from "../seam.ts";
import type { Cancellation } from "./cancellation.ts";
import type { Answered } from "./exchange.ts";

/** Legacy: revisions with a handshake and sessions. Modern: each request stands for itself. */
export type Era = "legacy" | "modern";
/** The era of whoever asks. `any`: the gateway itself, `/step` and triggers, whom no client's era binds. */
export type ClientEra = Era | "any";

/** What the gateway says of itself to servers. */
export const CLIENT_INFO = { name: "agent-env-gateway", version: "0.1.0" };

/** How a server is reached. */
export type Wire = {
  readonly host: Host;
  readonly url: string;
  readonly maxBytes: number;
  readonly fields: () => Field[];
  /** Ids of the gateway's own, unique on this server. */
  readonly nextId: () => number;
};

/** A request to a server, without its id. */
export type Ask = {
  readonly message: JsonObject;
  readonly silenceMs: number;
  /** Notifications on the request's stream. The server says no more while a promise is open. */
  readonly heard: (message: JsonObject) => void | Promise<void>;
  /** The server's own requests on that stream, where this caller can be asked; gives the reply, whose id doesn't matter. */
  readonly asked?: (request: JsonObject) => Promise<JsonObject>;
  /** Told the id under which it was sent: that is what a cancellation names. */
  readonly sent?: (id: number) => void;
  /** The server has ended its stream ahead of the reply, to be asked for the rest after so long. */
  readonly paused?: (retryMs: number | undefined) => void;
  /** Header fields of this request alone. */
  readonly fields?: readonly Field[];
  readonly cancellation?: Cancellation;
};

/** A way to one server for one caller, in one era. */
export interface Channel {
  readonly era: Era;
  /** Whatever comes before a request can be sent. Throws `Fault` and `BadAnswer`: then the request wasn't sent. */
  opened(): Promise<unknown>;
  request(ask: Ask): Promise<Answered>;
}
