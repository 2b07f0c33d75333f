import type { Row, VerifierContext } from "@agent-env/sdk";

/** Orders through a tool of an endpoint that the card names relatively, which a page's address may not reach either. */
export async function verify(_mcpUrl: string, { listTools, callTool, fetch }: VerifierContext): Promise<Row[]> {
  const card = await (await fetch("/svc/shoprel/.well-known/agent-env.json")).text();
  const tools = (await listTools()).map(({ name }) => name);
  const order = await callTool("shoprel_place_order", { product: "coffee", quantity: 2 });
  const count = await callTool("shoprel_count_orders");
  const page = await (await fetch("/website/shoprel/")).text();
  const closed = await fetch("/website/shoprel/mcp", { method: "POST", body: "{}" });
  return [
    {
      id: "relative",
      description: "the card names the endpoint relatively, and its tools are listed",
      result:
        card.includes('{"url":"mcp","transport":"mcp"}') &&
        ["shoprel_place_order", "shoprel_count_orders"].every((tool) => tools.includes(tool)),
    },
    {
      id: "order",
      description: "the order is placed and counted",
      result: order.isError !== true && count.structuredContent?.["result"] === 1,
    },
    { id: "page", description: "the page shows the order", result: page.includes("2 × coffee") },
    { id: "closed", description: "the tools are not reached through the page's address", result: closed.status === 404 },
  ];
}
