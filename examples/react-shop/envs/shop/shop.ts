import { AgentEnvError, environmentCard, jsonData, now, toolContext, WebsiteEnvironment, z } from "@agent-env/sdk";

const Product = z.object({ name: z.string().min(1), price: z.number().positive() });
const Order = z.object({ id: z.int(), product: z.string(), quantity: z.int().positive(), by: z.string().nullable(), at: z.string() });
const wanted = {
  product: z.string().describe("Name of the product, as the shop lists it."),
  quantity: z.int().positive().default(1).describe("How many."),
};
let products: z.infer<typeof Product>[] = [];
let orders: z.infer<typeof Order>[] = [];

/** The backend alone. Its pages are the front end's, which asks for what it shows at `/api/`. */
export const site = new WebsiteEnvironment(environmentCard({ name: "shop" }));

site.app.get("/api/products", (c) => c.json(products));
site.app.get("/api/orders", (c) => c.json(orders));
site.app.post("/api/orders", async (c) => {
  const { success, data, error } = z.object(wanted).safeParse(await c.req.json());
  if (!success) return c.json({ message: z.prettifyError(error) }, 400);
  const order = orderOf(data);
  return order instanceof AgentEnvError ? c.json(order.fields, 400) : c.json(order, 201);
});

site.tool("{environment_name}_place_order", {
  description: "Orders something from the shop.",
  input: wanted,
  output: Order,
  run(args) {
    const order = orderOf(args);
    if (order instanceof AgentEnvError) throw order;
    return order;
  },
});

site.tool("{environment_name}_list_orders", {
  description: "Lists the orders, oldest first.",
  annotations: { readOnlyHint: true },
  output: z.array(Order),
  run: () => orders,
});

site.data(
  jsonData(z.object({ products: z.array(Product).default([]), orders: z.array(Order).default([]) }), {
    reset: () => {
      products = [];
      orders = [];
    },
    add: (seed) => {
      products.push(...seed.products);
      orders.push(...seed.orders);
    },
    get: () => ({ products, orders }),
  }),
);

/** Places an order, a visitor's or an agent's, or tells why it can't be. */
function orderOf({ product, quantity }: { product: string; quantity: number }): z.infer<typeof Order> | AgentEnvError {
  const names = products.map(({ name }) => name);
  if (!names.includes(product)) {
    return new AgentEnvError("no_such_product", `the shop has no ${product}`, { hint: `it has ${names.join(", ")}` });
  }
  const order = { id: (orders.at(-1)?.id ?? 0) + 1, product, quantity, by: toolContext().caller.role, at: now().toISOString() };
  orders.push(order);
  return order;
}
