import type { Row, VerifierContext } from "@agent-env/sdk";

/** Publishes a post through a tool, then looks at the page that a visitor would see. */
export async function verify(_mcpUrl: string, { callTool, fetch }: VerifierContext): Promise<Row[]> {
  const published = await callTool("__name___publish", { title: "Second", text: "Written by a tool." });
  const page = await fetch("/website/__name__/");
  const html = await page.text();
  return [
    { id: "seed", description: "the page shows the post that was loaded", result: page.ok && html.includes("The first post.") },
    { id: "publish", description: "and what a tool published", result: published.isError !== true && html.includes("Written by a tool.") },
  ];
}
