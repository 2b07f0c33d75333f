import { expect, test } from "vitest";
import { hostFor } from "./hosts.ts";

test("N5 a front end behind the gateway's own alias is told the name that browsers use", () => {
  expect(hostFor("shop", "http://origin-shop:80")).toEqual({ host: "shop-website-frontend" });
  expect(hostFor("shop", "http://shop-website-frontend:80")).toEqual({});
  expect(hostFor("shop", "http://origin-other:80")).toEqual({});
});
