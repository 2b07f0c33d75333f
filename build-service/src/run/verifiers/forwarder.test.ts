import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { type Forwarder, startForwarder } from "./forwarder.ts";

type Seen = { readonly method: string; readonly url: string; readonly authorization: string | undefined; readonly body: string };

let forwarder: Forwarder | undefined;
let server: http.Server | undefined;
const seen: Seen[] = [];
afterEach(async () => {
  await forwarder?.close();
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
  seen.length = 0;
});

async function forwarding(base = ""): Promise<string> {
  server = http.createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    seen.push({ method: request.method ?? "", url: request.url ?? "", authorization: request.headers.authorization, body });
    if (request.url?.endsWith("/cut")) return response.destroy();
    return response.writeHead(201, { "mcp-session-id": "s" }).end(`got ${body}`);
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  forwarder = await startForwarder(`http://127.0.0.1:${port}${base}`, "Bearer the-graders");
  return forwarder.url;
}

test("N4 every path and method goes on with the token, whatever the script says of its caller", async () => {
  const url = await forwarding("/d/shop-1/");
  const answer = await fetch(`${url}/svc/shop/x%2Fy?z=1`, { method: "POST", body: "hello", headers: { authorization: "Bearer mine" } });
  expect([answer.status, answer.headers.get("mcp-session-id"), await answer.text()]).toEqual([201, "s", "got hello"]);
  expect((await fetch(`${url}/mcp`)).status).toBe(201);
  expect(seen).toEqual([
    { method: "POST", url: "/d/shop-1/svc/shop/x%2Fy?z=1", authorization: "Bearer the-graders", body: "hello" },
    { method: "GET", url: "/d/shop-1/mcp", authorization: "Bearer the-graders", body: "" },
  ]);
});

test("N4 a page in a browser can't use it", async () => {
  const url = await forwarding();
  for (const headers of [{ origin: "http://evil.example" }, { "sec-fetch-site": "same-origin" }] as Record<string, string>[]) {
    const status = await new Promise((resolve, reject) => {
      http.get(`${url}/state`, { headers }, (answer) => resolve(answer.statusCode)).on("error", reject);
    });
    expect(status).toBe(403);
  }
  expect(seen).toEqual([]);
});

test("a gateway that breaks off is told as 502, with its address and the reason", async () => {
  const url = await forwarding();
  const answer = await fetch(`${url}/cut`);
  expect([answer.status, await answer.text()]).toEqual([
    502,
    expect.stringMatching(/^\{"error":"http:\/\/127\.0\.0\.1:\d+: socket hang up"\}$/),
  ]);
});

test("it ends with its script", async () => {
  const url = await forwarding();
  await forwarder?.close();
  await expect(fetch(url)).rejects.toThrow();
});
