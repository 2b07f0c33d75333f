import type { Field, In, UpExchange, UpRequest, UpResponse } from "../../core/seam.ts";
import { Fault } from "../../core/seam.ts";
import type { Doors } from "./doors.ts";
import type { WorkersOut } from "./in-out.ts";
import { answered, WorkersUpResponse } from "./upstream.ts";

/** Asks the server for a WebSocket and hands its end to the client. */
export function upgradeBy(doors: Doors, out: WorkersOut) {
  return (request: UpRequest, _client: In, outward: (fields: Field[]) => Field[]): UpExchange<UpResponse | null> => {
    const ending = new AbortController();
    return { response: asked(request, outward, ending.signal), abort: () => ending.abort() };
  };

  async function asked(request: UpRequest, outward: (fields: Field[]) => Field[], signal: AbortSignal): Promise<UpResponse | null> {
    const headers: Field[] = [...request.headers, ["upgrade", "websocket"]];
    const response = await answered({ ...request, headers, body: null }, signal).catch(async (error: unknown) => {
      if (signal.aborted) throw new Fault("unknown", "given up", { cause: error });
      throw await doors.faultOf(request.url, error);
    });
    const upstream = new WorkersUpResponse(response);
    if (response.webSocket === null) return upstream;
    out.switched(outward(upstream.headers()), response.webSocket);
    return null;
  }
}
