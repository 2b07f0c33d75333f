import type { Row, VerifierContext } from "@agent-env/sdk";

/** Greets and signs through the tools, then looks at the page that a visitor would see. */
export async function verify(_mcpUrl: string, { listTools, callTool, fetch }: VerifierContext): Promise<Row[]> {
  const tools = (await listTools()).map(({ name }) => name);
  const greeting = await callTool("greeter_greet", { name: "World" });
  const signing = await callTool("guestbook_sign", { text: "It runs." });
  const page = await fetch("/website/guestbook/");
  const html = await page.text();
  return [
    {
      id: "one-address",
      description: "the tools of both servers are listed at one address",
      result: tools.includes("greeter_greet") && tools.includes("guestbook_sign"),
    },
    {
      id: "tool",
      description: "a tool of the MCP server answers",
      result: JSON.stringify(greeting.content).includes("Hello, World!"),
    },
    {
      id: "seed",
      description: "the page shows the entry that was loaded",
      result: page.status === 200 && html.includes("First!"),
    },
    {
      id: "page",
      description: "the page shows what a tool wrote",
      result: signing.isError !== true && html.includes("It runs."),
    },
  ];
}
