import { Answer } from "../mcp/answer.ts";
import { NOTHING } from "../mcp/capabilities.ts";
import type { Turn } from "../mcp/turn.ts";
import type { Out } from "../seam.ts";

/** A call whose answer is told otherwise than as MCP: nothing is said ahead of it, and nobody can be asked. */
export function silentTurn(role: string): Turn {
  return {
    era: "legacy",
    answer: new Answer(nobody, { json: true, sse: false }, []),
    role,
    session: undefined,
    caller: `role ${role}`,
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
