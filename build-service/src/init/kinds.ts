/** What `init` makes, each with what it is for. */
export const INIT_KINDS = {
  bundle: "a folder with an MCP server in it, and a task that verifies it",
  "mcp-server": "an MCP server, with a task that verifies it",
  website: "a website with tools, with a task that verifies it",
  multi: "an env of several servers behind one address",
  agent: "an agent that speaks A2A",
  artifact: "a file that tasks load",
  task: "a task that deploys an env and verifies it",
  eval: "a list of tasks",
  skill: "a skill that agents are given",
} as const;
export type InitKind = keyof typeof INIT_KINDS;

export function isInitKind(kind: string): kind is InitKind {
  return Object.hasOwn(INIT_KINDS, kind);
}
