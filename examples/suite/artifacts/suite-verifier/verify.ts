import type { Row, VerifierContext } from "@agent-env/sdk";

/** Four servers behind one address: each with its seed, and none in another's way. */
export async function verify(_mcpUrl: string, { listTools, callTool, fetch }: VerifierContext): Promise<Row[]> {
  const tools = (await listTools()).map(({ name }) => name);
  const items = await callTool("items_list");
  const orders = await callTool("count_orders");
  const otherOrders = await callTool("shoprel_count_orders");
  const notes = await fetch("/website/notes/");
  const notesPage = await notes.text();
  const shopPage = await (await fetch("/website/shop/")).text();
  return [
    {
      id: "tools",
      description: "the tools of the MCP server and of both shops are listed",
      result: ["items_add", "items_list", "place_order", "count_orders", "shoprel_place_order", "shoprel_count_orders"].every((tool) =>
        tools.includes(tool),
      ),
    },
    {
      id: "seeds",
      description: "each server has its own seed, and the second shop none",
      result:
        JSON.stringify(items.structuredContent).includes("umbrella") &&
        orders.structuredContent?.["result"] === 1 &&
        otherOrders.structuredContent?.["result"] === 0 &&
        notesPage.includes("Buy tea.") &&
        shopPage.includes("2 × coffee"),
    },
    {
      id: "cookie",
      description: "the notes' session cookie stays under the notes' path",
      result: /Path=\/website\/notes\/(;|$)/.test(notes.headers.get("set-cookie") ?? ""),
    },
  ];
}
