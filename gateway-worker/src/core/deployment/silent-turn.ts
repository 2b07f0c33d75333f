import { ownerOfRole } from "../auth/caller.ts";
import { Answer } from "../mcp/answer.ts";
import { NOTHING } from "../mcp/capabilities.ts";
import type { Turn } from "../mcp/turn.ts";
import type { Out } from "../seam.ts";

/** A call whose answer is told otherwise than as MCP: nothing is said ahead of it, and nobody can be asked. */
export function silentTurn(role: string, owner = ownerOfRole(role)): Turn {
  return {
    era: "any",
    answer: new Answer(nobody, { json: true, sse: false }, []),
    role,
    owner,
    namedSession: undefined,
    session: undefined,
    caller: owner,
    capabilities: NOTHING,
    logLevel: undefined,
    fields: [],
  };
}

const nobody: Out = {
  reply: unheard,
  stream: unheard,
  relay: unheard,
  onGone: () => undefined,
};

function unheard(): never {
  throw new Error("a silent turn has nobody to answer");
}
