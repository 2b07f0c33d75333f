import { pathOf } from "../route.ts";
import type { Host, In } from "../seam.ts";
import type { Triggers } from "../triggers/triggers.ts";
import { causeIn } from "./call-log.ts";
import { RequestArgs } from "./request-args.ts";
import { eventId, type Trajectory } from "./trajectory.ts";
import type { WriteWindows } from "./write-windows.ts";

/** Methods that change nothing by definition (RFC 9110 §9.2.1). */
const SAFE_METHODS = ["GET", "HEAD", "OPTIONS", "TRACE"];

/** Where a request goes, and as whom: `service` is a key under `/svc`, or a site. `path` may have a query. */
export type RequestPlace = { readonly route: "svc" | "website"; readonly service: string; readonly path: string; readonly role: string };
/** A request that somebody wants to know of. */
export type WatchedRequest = {
  /** Sees its body go by. */
  readonly seen?: (chunk: Uint8Array) => void;
  /** Told of the answer's status. Done when the answer may go out. */
  answered(status: number): Promise<void> | undefined;
};

/** Requests that pass by: those that may have changed the database are in the trajectory, and some set off triggers. */
export class RequestWatch {
  readonly #host: Host;
  readonly #trajectory: Trajectory;
  readonly #windows: WriteWindows;
  readonly #triggers: () => Triggers;

  constructor(parts: { host: Host; trajectory: Trajectory; windows: WriteWindows; triggers: () => Triggers }) {
    this.#host = parts.host;
    this.#trajectory = parts.trajectory;
    this.#windows = parts.windows;
    this.#triggers = parts.triggers;
  }

  /** A request is about to be passed on. Undefined: nobody wants to know of it. */
  begin(place: RequestPlace, request: In): Promise<WatchedRequest> | undefined {
    const mayWrite = this.#host.changes !== undefined && !SAFE_METHODS.includes(request.method);
    const mayProvoke = place.route === "website" && !request.wantsUpgrade && this.#triggers().watches(place.service);
    return mayWrite || mayProvoke ? this.#watched(place, request, { mayWrite, mayProvoke }) : undefined;
  }

  async #watched(place: RequestPlace, request: In, why: { mayWrite: boolean; mayProvoke: boolean }): Promise<WatchedRequest> {
    const before = why.mayWrite ? ((await this.#host.changes?.lastId()) ?? null) : null;
    const args = why.mayProvoke ? new RequestArgs(place.path, request) : null;
    return {
      ...(args !== null && request.hasBody ? { seen: (chunk: Uint8Array) => args.seen(chunk) } : {}),
      answered: async (status) => {
        if (why.mayWrite) await this.#note(place, request.method, { status, before });
        if (args !== null) await this.#provoke(place, request.method, { status, args });
        await this.#trajectory.committed();
      },
    };
  }

  async #note(place: RequestPlace, method: string, { status, before }: { status: number; before: number | null }): Promise<void> {
    const after = (await this.#host.changes?.lastId()) ?? null;
    if (before === null || after === null || after <= before) return;
    const { route, service, role } = place;
    const request = { route, service, method, path: pathOf(place.path), status };
    const cause = causeIn(this.#triggers().causesOf(role));
    const ids = { changelog_id_before: before, changelog_id_after: after };
    const n = this.#trajectory.append({ event_type: "http_request", ...request, role, ...cause, ...ids });
    this.#windows.add(n, { before, after }, { kind: "request", event_id: eventId(n), request, role, ...cause });
  }

  async #provoke(place: RequestPlace, method: string, { status, args }: { status: number; args: RequestArgs }): Promise<void> {
    const { service: app, role } = place;
    const isSafe = SAFE_METHODS.includes(method);
    await this.#triggers().requested({ app, method, path: pathOf(place.path), status, role, args: await args.read(), isSafe });
  }
}
