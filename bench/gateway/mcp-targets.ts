import { startProxy } from "./nginx.ts";
import type { NodeGateway } from "./node-gateway.ts";
import { originalGateway } from "./original-gateway.ts";
import { NPM_PEERS } from "./peers.ts";
import type { Place, Running } from "./place.ts";
import type { Program } from "./program.ts";
import type { Endpoint } from "./sessions.ts";

/** Something that answers calls of the tool. */
export type Target = {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly program: Program;
  readonly mostCallers: number;
};

export type Targets = {
  readonly ours: Target;
  readonly nginx: Target;
  /** The tool itself, without anything before it. */
  readonly bare: Target;
  readonly peers: readonly Target[];
  /** Or why there is none. */
  readonly original: Target | string;
};

const MOST_CALLERS = 256;

/** Starts all that calls are compared with. */
export async function mcpTargets(place: Place, gateway: NodeGateway & Running, say: (line: string) => void): Promise<Targets> {
  const { folder, echo, origin } = place;
  const ports = { echoPort: echo.port, originPort: origin.port };
  const nginx = await place.start((port) => startProxy(folder, { port, ...ports }));
  const peers: Target[] = [];
  for (const peer of NPM_PEERS) {
    const program = await place.start((port) => peer.start(folder, port));
    peers.push(targetOf(peer.name, program, { mostCallers: peer.mostSessions }));
  }
  const found = await originalGateway(say);
  const original =
    "why" in found ? found.why : targetOf("the original", await place.start((port) => found.start(folder, { port, ...ports })));
  return {
    ours: targetOf("ours", gateway, { token: gateway.token }),
    nginx: targetOf("nginx", nginx),
    bare: targetOf("the tool itself", echo),
    peers,
    original,
  };
}

function targetOf(name: string, program: Running, more: { token?: string; mostCallers?: number } = {}): Target {
  const endpoint = { url: `http://127.0.0.1:${program.port}/mcp`, token: more.token ?? null };
  return { name, program, endpoint, mostCallers: more.mostCallers ?? MOST_CALLERS };
}
