import { expect, test } from "vitest";
import type { Service } from "../providers/sandbox/provider.ts";
import { sitePrefixes } from "./site-prefixes.ts";

const service = (name: string, role: Service["role"], server: string | null): Service => ({
  name,
  role,
  server,
  image: null,
  port: 80,
  published: false,
  restart: false,
});
const SERVICES = [
  service("items", "mcp", "items"),
  service("shop-website-backend", "backend", "shop"),
  service("shop-website-frontend", "frontend", "shop"),
  service("blog-website-frontend", "frontend", "blog"),
];

/** A session that knows of its images' labels alone. */
const labelled = (labels: Readonly<Record<string, string>>) => ({
  imageLabels: async (name: string): Promise<Readonly<Record<string, string>>> =>
    labels[name] === undefined ? { other: "keep" } : { "agent-env.site.prefix": labels[name] },
});

test("N5 a front end whose image says keep owns its prefix; a backend's label says nothing", async () => {
  const session = labelled({
    "shop-website-frontend": "keep",
    "blog-website-frontend": "strip",
    "shop-website-backend": "keep",
    items: "x",
  });
  expect(await sitePrefixes(session, SERVICES)).toEqual({ shop: { prefix: "keep" } });
});

test("N5 where images have no labels every prefix is stripped", async () => {
  expect(await sitePrefixes({}, SERVICES)).toEqual({});
  expect(await sitePrefixes(labelled({}), SERVICES)).toEqual({});
});

test("N5 another value is refused", async () => {
  await expect(sitePrefixes(labelled({ "blog-website-frontend": "Keep" }), SERVICES)).rejects.toMatchObject({
    message: 'blog-website-frontend: its image\'s label agent-env.site.prefix is "Keep"',
    why: 'it can be "strip", where the site is served as at /, or "keep", where it makes its links under the prefix itself',
    next: "correct the LABEL in its Dockerfile.frontend, or leave it out for strip",
  });
});
