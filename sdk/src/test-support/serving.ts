import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CfWorkerJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/cfworker";
import { onTestFinished, vi } from "vitest";
import type { Environment } from "../environment.ts";

/** Serves an environment on a free loopback port until the test ends; gives its address. What it logs is not shown. */
export async function served(environment: Environment): Promise<string> {
  vi.spyOn(console, "error").mockReturnValue();
  const { url, close } = await environment.serve({ host: "127.0.0.1", port: 0 });
  onTestFinished(close);
  return url;
}

/** A public MCP client, connected until the test ends, that sends these headers with every request. */
export async function connected(url: string, headers: Record<string, string> = {}, path = "/mcp"): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0" }, { jsonSchemaValidator: new CfWorkerJsonSchemaValidator() });
  await client.connect(new StreamableHTTPClientTransport(new URL(path, url), { requestInit: { headers } }));
  onTestFinished(() => client.close());
  return client;
}

/** Posts a body, as JSON unless it is text already. */
export async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return await fetch(url, { method: "POST", body: text, headers: { "Content-Type": "application/json", ...headers } });
}

/** Sets variables of the process until the test ends. */
export function withVariables(variables: Record<string, string>): void {
  for (const [name, value] of Object.entries(variables)) {
    const before = process.env[name];
    process.env[name] = value;
    onTestFinished(() => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    });
  }
}
