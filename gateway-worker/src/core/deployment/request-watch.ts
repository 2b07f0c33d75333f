import { pathOf } from "../route.ts";
import type { Host, In } from "../seam.ts";
import { eventId, type Trajectory } from "./trajectory.ts";
import type { WriteWindows } from "./write-windows.ts";

/** Methods that change nothing by definition (RFC 9110 §9.2.1). */
const SAFE_METHODS = ["GET", "HEAD", "OPTIONS", "TRACE"];

/** Where a request goes: `service` is a key under `/svc`, or a site. */
export type RequestPlace = { readonly route: "svc" | "website"; readonly service: string; readonly path: string; readonly role: string };
/** A request that somebody wants to know of. */
export type WatchedRequest = { answered(status: number): Promise<void> | undefined };

/** Requests that pass by: those that may have changed the database are in the trajectory (3-wire §trajectory). */
export class RequestWatch {
  readonly #host: Host;
  readonly #trajectory: Trajectory;
  readonly #windows: WriteWindows;

  constructor(parts: { host: Host; trajectory: Trajectory; windows: WriteWindows }) {
    this.#host = parts.host;
    this.#trajectory = parts.trajectory;
    this.#windows = parts.windows;
  }

  /** A request is about to be passed on. Undefined: nobody wants to know of it. */
  begin(place: RequestPlace, request: In): Promise<WatchedRequest> | undefined {
    const { changes } = this.#host;
    if (changes === undefined || SAFE_METHODS.includes(request.method)) return undefined;
    return this.#watched({ ...place, path: pathOf(place.path) }, request.method, changes);
  }

  async #watched(
    { route, service, path, role }: RequestPlace,
    method: string,
    changes: NonNullable<Host["changes"]>,
  ): Promise<WatchedRequest> {
    const before = await changes.lastId();
    return {
      answered: async (status) => {
        const after = await changes.lastId();
        if (before === null || after === null || after <= before) return;
        const request = { route, service, method, path, status };
        const ids = { changelog_id_before: before, changelog_id_after: after };
        const n = this.#trajectory.append({ event_type: "http_request", ...request, role, ...ids });
        this.#windows.add(n, { before, after }, { kind: "request", event_id: eventId(n), request, role });
        await this.#trajectory.committed();
      },
    };
  }
}
