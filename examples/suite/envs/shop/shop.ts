import { AgentEnvError, type CardDeclaration, html, jsonData, link, now, toolContext, WebsiteEnvironment, z } from "@agent-env/sdk";

const Order = z.object({ product: z.string(), quantity: z.int().positive(), by: z.string().nullable(), at: z.string() });
const prices = new Map([
  ["tea", 4],
  ["coffee", 6],
]);

/** The shop under a card of its own. `toolPrefix` stands before its tools' names, which no other server beside it may have. */
export function shop(card: CardDeclaration, toolPrefix = ""): WebsiteEnvironment {
  const site = new WebsiteEnvironment(card);
  let orders: z.infer<typeof Order>[] = [];

  function placeOrder(product: string, quantity: number): z.infer<typeof Order> {
    if (!prices.has(product)) {
      throw new AgentEnvError("no_such_product", `the shop has no ${product}`, { hint: `it has ${[...prices.keys()].join(", ")}` });
    }
    const order = Order.parse({ product, quantity, by: toolContext().caller.role, at: now().toISOString() });
    orders.push(order);
    return order;
  }

  site.page(
    "/",
    () => html`<!doctype html>
      <html lang="en">
        <head><meta charset="utf-8"><title>Shop</title></head>
        <body>
          <h1>Shop</h1>
          <form method="post" action="${link("/orders")}">
            <select name="product">${[...prices].map(([product, price]) => html`<option value="${product}">${product}, ${price} €</option>`)}</select>
            <input name="quantity" type="number" min="1" value="1">
            <button>Order</button>
          </form>
          <h2>Orders: <output>${orders.length}</output></h2>
          <ol>${orders.map(({ product, quantity }) => html`<li>${quantity} × ${product}</li>`)}</ol>
        </body>
      </html>`,
  );

  site.app.post("/orders", async (c) => {
    const form = await c.req.formData();
    placeOrder(String(form.get("product")), Number(form.get("quantity")));
    return c.redirect(link("/"), 303);
  });
  site.app.get("/api/orders", (c) => c.json({ orders }));

  site.tool(`${toolPrefix}place_order`, {
    description: "Orders something from the shop.",
    input: {
      product: z.string().describe("Name of the product, as the shop's page lists it."),
      quantity: z.int().positive().default(1).describe("How many."),
    },
    output: Order,
    run: ({ product, quantity }) => placeOrder(product, quantity),
  });

  site.tool(`${toolPrefix}count_orders`, {
    description: "Tells how many orders the shop has.",
    annotations: { readOnlyHint: true },
    output: z.int(),
    run: () => orders.length,
  });

  site.data(
    jsonData(z.object({ orders: z.array(Order) }), {
      reset: () => {
        orders = [];
      },
      add: (seed) => orders.push(...seed.orders),
      get: () => ({ orders }),
    }),
  );

  return site;
}
