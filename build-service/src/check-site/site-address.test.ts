import { expect, test } from "vitest";
import { reached, withoutAddress } from "./site-address.ts";

const PREFIX = { base: "http://localhost:8787/d/demo-1/website/shop/" };
const HOST = { base: "http://shop--demo-1.localhost:8787/" };

test.each([
  ["http://localhost:8787/d/demo-1/website/shop/cart?x=1#top", { is: "site", path: "/cart?x=1" }],
  ["http://localhost:8787/d/demo-1/website/shop?x=1", { is: "site", path: "/?x=1" }],
  ["ws://localhost:8787/d/demo-1/website/shop/ws", { is: "site", path: "/ws" }],
  ["http://localhost:8787/cart", { is: "root", path: "/cart" }],
  ["ws://localhost:8787/ws", { is: "root", path: "/ws" }],
  ["http://localhost:8787/d/demo-1/website/blog/", { is: "elsewhere" }],
  ["http://localhost:8787/d/demo-1/website/shopping", { is: "elsewhere" }],
  ["http://localhost:8788/d/demo-1/website/shop/", { is: "elsewhere" }],
  ["https://cdn.example/app.js", { is: "elsewhere" }],
  ["data:text/css,a", { is: "elsewhere" }],
  ["mailto:ada@example.com", { is: "elsewhere" }],
])("N5 under a prefix %s is %o", (url, where) => {
  expect(reached(url, PREFIX)).toEqual(where);
});

test.each([
  ["http://shop--demo-1.localhost:8787/cart", { is: "site", path: "/cart" }],
  ["http://localhost:8787/cart", { is: "elsewhere" }],
])("N5 on a host of its own %s is %o", (url, where) => {
  expect(reached(url, HOST)).toEqual(where);
});

test("N5 a text that names the site's address reads the same in both modes", () => {
  const text = ({ base }: { base: string }) => `open ${base}cart, or ${new URL(base).host} at ${new URL(base).pathname}cart`;
  expect(withoutAddress(text(PREFIX), PREFIX)).toBe("open /cart, or  at /cart");
  expect(withoutAddress(text(HOST), HOST)).toBe("open /cart, or  at /cart");
});
