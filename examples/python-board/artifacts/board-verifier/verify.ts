import type { Row, VerifierContext } from "@agent-env/sdk";

/** Posts as an agent does and as a visitor does, and looks for both on the page and in the API. */
export async function verify(_mcpUrl: string, { callTool, fetch }: VerifierContext): Promise<Row[]> {
  const posted = await callTool("board_post", { text: "Tea is ready." });
  const form = new URLSearchParams({ text: "I <bring> cake." });
  const page = await (await fetch("/website/board/messages", { method: "POST", body: form })).text();
  const read = await callTool("board_read");
  const api = await (await fetch("/svc/board/api/messages")).text();
  const closed = await fetch("/website/board/mcp", { method: "POST", body: "{}" });
  return [
    {
      id: "tool",
      description: "a tool posts, and the page shows it",
      result: posted.isError !== true && page.includes("Tea is ready."),
    },
    {
      id: "form",
      description: "the form posts; the tool that reads and the API have it",
      result: [JSON.stringify(read.structuredContent), api].every((text) => text.includes("I <bring> cake.")),
    },
    {
      id: "page",
      description: "the form leads back to the page, which shows the text, not what it would mean as HTML",
      result: page.includes("I &lt;bring&gt; cake."),
    },
    { id: "closed", description: "the tools are not reached through the page's address", result: closed.status === 404 },
  ];
}
