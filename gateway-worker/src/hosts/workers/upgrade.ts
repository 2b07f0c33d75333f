import type { Field, In, UpExchange, UpRequest, UpResponse } from "../../core/seam.ts";
import { Fault } from "../../core/seam.ts";
import type { Doors } from "./doors.ts";
import type { WorkersOut } from "./in-out.ts";
import { answered, WorkersUpResponse } from "./upstream.ts";

/** Asks the server for a WebSocket and hands its end to the client. */
export function upgradeBy(doors: Doors, out: WorkersOut) {
  return (request: UpRequest, _client: In, outward: (fields: readonly Field[]) => Field[]): UpExchange<UpResponse | null> => {
    const ending = new AbortController();
    return { response: asked(request, outward, ending), abort: () => ending.abort() };
  };

  async function asked(
    request: UpRequest,
    outward: (fields: readonly Field[]) => Field[],
    ending: AbortController,
  ): Promise<UpResponse | null> {
    const headers: Field[] = [...request.headers, ["upgrade", "websocket"]];
    const response = await answered({ ...request, headers, body: null }, ending).catch(async (error: unknown) => {
      if (error instanceof Fault) throw error;
      if (ending.signal.aborted) throw new Fault("unknown", "given up", { cause: error });
      throw await doors.faultOf(request.url, error);
    });
    const upstream = new WorkersUpResponse(response);
    if (response.webSocket === null) return upstream;
    out.switched(outward(upstream.headers()), response.webSocket);
    return null;
  }
}
