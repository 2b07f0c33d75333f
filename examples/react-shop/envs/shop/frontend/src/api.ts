export type Product = { readonly name: string; readonly price: number };
export type Order = {
  readonly id: number;
  readonly product: string;
  readonly quantity: number;
  readonly by: string | null;
  readonly at: string;
};

// Paths are relative to the page, which may lie under a gateway's prefix.

export async function fetchProducts(signal: AbortSignal): Promise<Product[]> {
  return await (await answered(fetch("api/products", { signal }))).json();
}

export async function fetchOrders(signal: AbortSignal): Promise<Order[]> {
  return await (await answered(fetch("api/orders", { signal }))).json();
}

export async function placeOrder(product: string, quantity: number): Promise<Order> {
  return await (await answered(fetch("api/orders", { method: "POST", body: JSON.stringify({ product, quantity }) }))).json();
}

/** The answer, if it is a good one. Throws with what the backend says otherwise. */
async function answered(asked: Promise<Response>): Promise<Response> {
  const answer = await asked;
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  return answer;
}
