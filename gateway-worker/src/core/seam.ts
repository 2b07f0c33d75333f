import type { DeploymentRecord } from "@agent-env/protocol";
import type { Observer } from "./observe/observer.ts";

/** A header field. Names are in lower case; repeated fields are repeated entries. */
export type Field = readonly [name: string, value: string];

/** A request as it came in. */
export interface In {
  readonly method: string;
  readonly scheme: "http" | "https";
  /** Host and port that the request names. */
  readonly host: string;
  /** Path and query exactly as the WHATWG URL parser leaves them, without `base`. Null: the target is none that is served. */
  readonly path: string | null;
  /** What the caller's path has before `path`: nothing, or `/d/<deployment>`. */
  readonly base: string;
  /** What the pages of this deployment's sites have before `/website`: `base`, which a request of theirs may have left. */
  readonly pageBase: string;
  /** `browser`: it came in where only sites are served, to the agent's own browser. */
  readonly door: "callers" | "browser";
  /** Other deployments, and their sites, are served under the same origin. */
  readonly sharesOrigin: boolean;
  readonly peer: string | undefined;
  readonly hasBody: boolean;
  readonly wantsUpgrade: boolean;
  /** The first field of that name, in lower case. */
  header(name: string): string | undefined;
  headers(): readonly Field[];
  /** The whole body; null as soon as it is larger than `limit`. Rejects with a `ClientFault`. */
  bytes(limit: number): Promise<Uint8Array | null>;
  pump(take: (chunk: Uint8Array) => void | Promise<void>): Promise<void>;
}

/** The answer to it: one reply, one stream, or a server's answer passed on. */
export interface Out {
  reply(status: number, headers: readonly Field[], body?: string | Uint8Array): void;
  stream(status: number, headers: readonly Field[]): Sink;
  /** The bytes of a server's body as they are, encoded or not. Done when they are through, or the answer is cut. */
  relay(status: number, headers: readonly Field[], from: UpResponse): Promise<void>;
  /** Called once if the client leaves before the answer is complete. */
  onGone(then: () => void): void;
}

export interface Sink {
  /** A promise means that the peer is slow. */
  write(chunk: string | Uint8Array): void | Promise<void>;
  end(): void;
  /** Ends the answer so that the client sees it is incomplete. */
  cut(): void;
  readonly gone: boolean;
}

/** A request to a server. The address comes from the deployment's record, never from a request. */
export type UpRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly Field[];
  readonly body: In | string | Uint8Array | null;
  /** The request that this one passes on: what is left of its fields keeps its bytes, also where they are no text. */
  readonly passesOn?: In;
  /** Sees the client's body go by. */
  readonly bodySeen?: (chunk: Uint8Array) => void;
  /** How long the server may be silent, before its answer and within it. */
  readonly idleMs: number;
  /** The `Host` that is sent, where it isn't the address's own. A host that can't set it sends that one. */
  readonly host?: string;
};

export interface UpResponse {
  readonly status: number;
  header(name: string): string | undefined;
  headers(): readonly Field[];
  /** Rejects with a `Fault` when the answer is cut. */
  pump(take: (chunk: Uint8Array) => void | Promise<void>): Promise<void>;
  /** Whether `pumpDecoded` can read its content coding. */
  readonly isReadable: boolean;
  /** As `pump`, without the body's content coding. Rejects with a `Fault` also when the bytes are not in it. */
  pumpDecoded(take: (chunk: Uint8Array) => void | Promise<void>): Promise<void>;
  /** Lets the rest go. */
  discard(): void;
}

export type UpExchange<Answer = UpResponse> = { readonly response: Promise<Answer>; abort(): void };

/** `refused`: surely nothing reached the server. The other words leave that open. */
export type FaultKind = "refused" | "reset" | "timeout" | "unknown";

/** A server that did not answer, or not to the end. `reason` holds no address. */
export class Fault extends Error {
  readonly kind: FaultKind;
  readonly reason: string;

  constructor(kind: FaultKind, reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = "Fault";
    this.kind = kind;
    this.reason = reason;
  }
}

/** A client that left before it had sent its whole body, broke it, or stalled in it: no fault of a server, and no bug. */
export class ClientFault extends Error {
  readonly kind: "left" | "slow";

  constructor(kind: "left" | "slow", options?: ErrorOptions) {
    super(kind === "left" ? "the client left" : "the client stalled", options);
    this.name = "ClientFault";
    this.kind = kind;
  }
}

export type SqlValue = string | number | null;
export type Row = Readonly<Record<string, SqlValue>>;

export interface Sql {
  exec(query: string, ...values: SqlValue[]): Row[];
  transaction(write: () => void): void;
}

/** One change as the database has it. */
export type ChangeRow = {
  readonly id: number;
  readonly timestamp: string;
  readonly schema_name: string;
  readonly table_name: string;
  readonly operation: string;
  readonly row_id: string | null;
  readonly summary: string | null;
  readonly changed_fields: unknown;
};

/** The rows that the deployment's database keeps of every change (3-wire §changes). */
export interface Changelog {
  /** The highest id, 0 while there is no row; null when it can't be read. */
  lastId(): Promise<number | null>;
  /** So many rows behind an id, oldest first; null when they can't be read. */
  rowsAfter(id: number, limit: number): Promise<readonly ChangeRow[] | null>;
}

/** A copy of the trajectory in lines. Where it can't be written that is said in the log, and costs nothing else. */
export interface TrajectoryCopy {
  /** Makes the copy anew from all that is known. */
  begin(lines: Iterable<string>): void;
  append(lines: string): void;
}

/** All that the core knows of the platform it runs on. */
export interface Host {
  readonly sql: Sql;
  /** When this is done, what was written before survives a kill of the process. */
  committed(): void | Promise<void>;
  /** Runs work as soon as what is being done now is done: what arrives meanwhile is done with it. */
  soon(work: () => void): void;
  /** Where nothing runs on its own while nobody asks: has it looked after again at that time, or no more. */
  wakeAt?(ms: number | null): void;
  /** Work that outlives the request it came with. It must not reject. */
  background(work: Promise<unknown>): void;
  upstream(request: UpRequest): UpExchange;
  /** Methods of requests that the platform sends without a body only. */
  readonly bodiless?: ReadonlySet<string>;
  /**
   * Connects the client's upgraded connection with a server's. Resolves to null once that is done; to the server's answer
   * where it doesn't switch protocols. `outward` gives the fields that the client may see.
   */
  upgrade(request: UpRequest, client: In, outward: (fields: readonly Field[]) => Field[]): UpExchange<UpResponse | null>;
  /** The plain bytes of a body in `gzip`, `deflate` or `br`; null when they are more than `limit`. */
  decode(coding: string, bytes: Uint8Array, limit: number): Promise<Uint8Array | null>;
  record(): DeploymentRecord;
  /** The gateway's address as the deployment's servers reach it, where that isn't the one that callers use. */
  ownUrl?(): string;
  /** The changelog of the deployment's database, if it has one. */
  readonly changes?: Changelog;
  /** Where a copy of the trajectory goes. */
  readonly copyTo?: TrajectoryCopy;
  /** What watches requests, where somebody wants to know of them. */
  readonly observer?: Observer;
  /** A line for whoever runs the gateway. */
  log(line: string): void;
}
