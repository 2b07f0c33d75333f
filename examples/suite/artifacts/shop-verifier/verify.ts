import type { Row, VerifierContext } from "@agent-env/sdk";

/** Orders through a tool, then looks at the page, at the API behind it, and at what a page may not reach. */
export async function verify(_mcpUrl: string, { callTool, fetch }: VerifierContext): Promise<Row[]> {
  const order = await callTool("place_order", { product: "tea", quantity: 3 });
  const refused = await callTool("place_order", { product: "gold" });
  const count = await callTool("count_orders");
  const page = await (await fetch("/website/shop/")).text();
  const health = await fetch("/svc/shop/api/health");
  const api: unknown = await (await fetch("/svc/shop/api/orders")).json();
  const closed = await fetch("/website/shop/mcp", { method: "POST", body: "{}" });
  return [
    {
      id: "order",
      description: "the order is placed and counted",
      result: order.isError !== true && count.structuredContent?.["result"] === 1,
    },
    {
      id: "error",
      description: "an unknown product is refused with a code",
      result: refused.isError === true && refused.structuredContent?.["code"] === "no_such_product",
    },
    { id: "page", description: "the page shows the order", result: page.includes("3 × tea") },
    {
      id: "backend",
      description: "the backend is healthy, and its API shows the order",
      result: health.ok && JSON.stringify(api).includes('"product":"tea"'),
    },
    { id: "closed", description: "the tools are not reached through the page's address", result: closed.status === 404 },
  ];
}
