import type { Row, VerifierContext } from "@agent-env/sdk";

/** Orders as an agent does and as the page does, and looks for both where the other would. */
export async function verify(_mcpUrl: string, { callTool, fetch }: VerifierContext): Promise<Row[]> {
  const ordered = await callTool("shop_place_order", { product: "tea", quantity: 3 });
  const refused = await callTool("shop_place_order", { product: "gold" });
  const page = await (await fetch("/website/shop/")).text();
  const [, script = "no script"] = /<script [^>]*src="\.\/([^"]+)"/.exec(page) ?? [];
  const code = await fetch(`/website/shop/${script}`);
  const sent = await fetch("/website/shop/api/orders", { method: "POST", body: JSON.stringify({ product: "coffee", quantity: 1 }) });
  const api = await (await fetch("/website/shop/api/orders")).text();
  const listed = JSON.stringify((await callTool("shop_list_orders")).structuredContent);
  return [
    {
      id: "tool",
      description: "the page's API has what was loaded, and what a tool ordered",
      result: ordered.isError !== true && ['"coffee","quantity":2', '"tea","quantity":3'].every((order) => api.includes(order)),
    },
    {
      id: "error",
      description: "an unknown product is refused with a code",
      result: refused.isError === true && refused.structuredContent?.["code"] === "no_such_product",
    },
    {
      id: "page",
      description: "the page brings its script, at an address relative to itself",
      result: code.ok && (code.headers.get("content-type") ?? "").includes("javascript"),
    },
    {
      id: "visitor",
      description: "the tool that lists has what the page ordered",
      result: sent.status === 201 && listed.includes('"coffee","quantity":1'),
    },
  ];
}
