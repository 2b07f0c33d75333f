import type { Field, In, UpRequest, UpResponse } from "../../core/seam.ts";
import { Fault } from "../../core/seam.ts";
import type { Doors } from "./doors.ts";
import type { WorkersOut } from "./in-out.ts";
import { answered, WorkersUpResponse } from "./upstream.ts";

/** Asks the server for a WebSocket and hands its end to the client. */
export function upgradeBy(doors: Doors, out: WorkersOut) {
  return async (request: UpRequest, client: In, outward: (fields: Field[]) => Field[]): Promise<UpResponse | null> => {
    const headers: Field[] = [...request.headers, ["upgrade", client.header("upgrade") ?? "websocket"]];
    const response = await answered({ ...request, headers, body: null }, new AbortController().signal).catch(async (error: unknown) => {
      throw error instanceof Fault ? error : await doors.faultOf(request.url, error);
    });
    const upstream = new WorkersUpResponse(response);
    if (response.webSocket === null) return upstream;
    out.switched(outward(upstream.headers()), response.webSocket);
    return null;
  };
}
