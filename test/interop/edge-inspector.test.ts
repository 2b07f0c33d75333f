import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { encodedId } from "../../build-service/src/bundle/ids.ts";
import { mustRun } from "../../scripts/setup/command.ts";
import { type Edge, helloBehindEdge } from "../fixtures/edge.ts";
import { inspect } from "../fixtures/interop/inspector.ts";

let edge: Edge;
beforeAll(async () => {
  edge = await helloBehindEdge();
});
afterAll(() => edge.stop());

const WRANGLER = fileURLToPath(new URL("../../node_modules/.bin/wrangler", import.meta.url));

/** Reads through the bindings that `wrangler.toml` names, from the state folder that the gateway runs on, with an empty HOME. */
function wrangler(...argv: string[]): Promise<string> {
  const env = { ...process.env, HOME: edge.cli.home, WRANGLER_SEND_METRICS: "false", WRANGLER_HIDE_BANNER: "true" };
  return mustRun(process.execPath, [WRANGLER, ...argv, "--local", "--persist-to", edge.cli.stateDir], { budgetSeconds: 120, env });
}

/** One command of the public inspector. */
function inspected(...argv: string[]): Promise<unknown> {
  return inspect(edge.cli.home, edge.deployment.mcp_url, argv);
}

test("the inspector lists the tools of all servers at the printed address", async () => {
  const { tools } = (await inspected("--method", "tools/list")) as { tools: { name: string }[] };
  expect(tools.map(({ name }) => name)).toEqual([
    "list_website_urls",
    "greeter_greet",
    "greeter_greeted",
    "guestbook_sign",
    "guestbook_read",
  ]);
});

test("the inspector's call reaches the tool, and the page shows what it did", async () => {
  const result = await inspected("--method", "tools/call", "--tool-name", "guestbook_sign", "--tool-arg", "text=hello from the inspector");
  expect(result).toMatchObject({ isError: false });
  const page = await fetch(edge.deployment.website_frontend_urls["guestbook"] ?? "");
  expect(page.status).toBe(200);
  expect(await page.text()).toContain("hello from the inspector");
});

test("the Worker's bindings hold what the build service wrote: the env record in R2, its projection in KV", async () => {
  const encoded = encodedId("@local/agent-env/hello/hello");
  const record = JSON.parse(await wrangler("r2", "object", "get", `agent-env-store/records/env/${encoded}/1.json`, "--pipe"));
  expect(record).toMatchObject({ id: "@local/agent-env/hello/hello", type: "multi", version: 1 });
  const projection = JSON.parse(await wrangler("kv", "key", "get", `env:${encoded}`, "--binding", "RECORDS"));
  expect(projection).toEqual({ revision: 1, record });
});

test("the platform's own explorer, which would show every record, is closed", async () => {
  expect((await fetch(`${edge.url}/cdn-cgi/explorer`)).status).toBe(404);
});
