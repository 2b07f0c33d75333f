import { useEffect, useState } from "react";
import { fetchOrders, fetchProducts, type Order, type Product, placeOrder } from "./api.ts";

/** How long an open page waits before it looks again for what agents and other visitors have ordered. */
const REFRESH_MS = 1_000;

export type Shop = {
  readonly products: readonly Product[];
  readonly orders: readonly Order[];
  /** Why the backend couldn't be asked, or didn't do what it was asked to; null when all is well. */
  readonly problem: string | null;
  readonly order: (product: string) => Promise<void>;
};

/** The shop as its backend has it, kept up to date while the page is open. */
export function useShop(): Shop {
  const [products, setProducts] = useState<readonly Product[]>([]);
  const [orders, setOrders] = useState<readonly Order[]>([]);
  const [problem, setProblem] = useState<string | null>(null);

  useEffect(() => {
    const left = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    async function refresh(): Promise<void> {
      try {
        const [newProducts, newOrders] = await Promise.all([fetchProducts(left.signal), fetchOrders(left.signal)]);
        setProducts(newProducts);
        setOrders(newOrders);
        setProblem(null);
      } catch (error) {
        if (left.signal.aborted) return;
        setProblem(String(error));
      }
      timer = setTimeout(refresh, REFRESH_MS);
    }
    void refresh();
    return () => {
      left.abort();
      clearTimeout(timer);
    };
  }, []);

  async function order(product: string): Promise<void> {
    try {
      const placed = await placeOrder(product, 1);
      setOrders((before) => [...before, placed]);
    } catch (error) {
      setProblem(String(error));
    }
  }
  return { products, orders, problem, order };
}
