import type { Row, VerifierContext } from "@agent-env/sdk";

/** Adds an item through a tool, then lists all of them. */
export async function verify(_mcpUrl: string, { callTool }: VerifierContext): Promise<Row[]> {
  const added = await callTool("__name___add", { title: "lamp" });
  const listed = JSON.stringify((await callTool("__name___list")).structuredContent);
  return [
    { id: "seed", description: "the item that was loaded is listed", result: listed.includes("umbrella") },
    { id: "add", description: "so is what a tool added", result: added.isError !== true && listed.includes("lamp") },
  ];
}
