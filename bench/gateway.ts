import { bytes } from "./gateway/bytes.ts";
import { deployments } from "./gateway/deployments.ts";
import { edge } from "./gateway/edge.ts";
import { mcpCalls } from "./gateway/mcp-calls.ts";
import { startNodeGateway } from "./gateway/node-gateway.ts";
import { newPlace } from "./gateway/place.ts";
import type { Bench } from "./row.ts";

/** What a gateway costs its callers: recorded calls, streamed bytes, many deployments. All of it on loopback. */
export const gateway: Bench = {
  name: "gateway",
  about:
    "our gateway with tokens, roles, sealed sessions and every call recorded before it is answered, before a tool that echoes and an nginx with files; each peer before the same, with nothing of that",

  async run(say) {
    await using place = await newPlace();
    const { folder, echo, origin } = place;
    const node = await place.start((port) => startNodeGateway(folder, { port, echoPort: echo.port, originPort: origin.port }));
    return [
      ...(await mcpCalls(place, node, say)),
      ...(await bytes(place, node, say)),
      ...(await edge(place, say)),
      ...(await deployments(place, say)),
    ];
  },
};
