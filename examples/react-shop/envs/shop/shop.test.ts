import { testKit } from "@agent-env/sdk/testing";
import { beforeEach, expect, test } from "vitest";
import seed from "../../artifacts/shop-seed/shop.json" with { type: "json" };
import { site } from "./shop.ts";

const shop = testKit(site).at("2026-03-02T10:00:00Z");
beforeEach(async () => {
  await shop.reset();
  await shop.add(seed);
});

const order = (body: object) => shop.fetch("/api/orders", { method: "POST", body: JSON.stringify(body) });

test("W1.1 the API has what was loaded, and what a tool has ordered", async () => {
  await shop.as("alice").call("shop_place_order", { product: "tea", quantity: 3 });
  expect(await (await shop.fetch("/api/products")).json()).toEqual(seed.products);
  expect(await (await shop.fetch("/api/orders")).json()).toEqual([
    ...seed.orders,
    { id: 2, product: "tea", quantity: 3, by: "alice", at: "2026-03-02T10:00:00.000Z" },
  ]);
});

test("W1.1 the tool that lists has what a page has ordered", async () => {
  expect((await order({ product: "coffee" })).status).toBe(201);
  const { structuredContent } = await shop.call("shop_list_orders");
  expect(structuredContent).toEqual({
    result: [...seed.orders, { id: 2, product: "coffee", quantity: 1, by: null, at: "2026-03-02T10:00:00.000Z" }],
  });
});

test("what can't be ordered is refused, and changes nothing", async () => {
  const unknown = await order({ product: "gold" });
  expect([unknown.status, await unknown.json()]).toMatchObject([400, { code: "no_such_product", hint: "it has tea, coffee" }]);
  const none = await order({ product: "tea", quantity: 0 });
  expect([none.status, await none.json()]).toEqual([400, { message: "✖ Too small: expected number to be >0\n  → at quantity" }]);
  expect(await shop.call("shop_place_order", { product: "gold" })).toMatchObject({ isError: true });
  expect(await shop.data()).toEqual(seed);
});
