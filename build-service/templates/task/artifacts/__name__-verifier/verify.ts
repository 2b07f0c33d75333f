import type { Row, VerifierContext } from "@agent-env/sdk";

/** Looks at the tools as an agent finds them. Call them with `callTool`, and read pages with `fetch`, to verify what they do. */
export async function verify(_mcpUrl: string, { listTools }: VerifierContext): Promise<Row[]> {
  const tools = await listTools();
  return tools.map(({ name, description }) => ({
    id: name,
    description: `the tool ${name} says what it does`,
    result: description !== undefined && description !== "",
  }));
}
