import { writeFileSync } from "node:fs";
import { join } from "node:path";

const VERSION = "2025-11-25";

/** A gateway's `/mcp`, or a server's own. */
export type Endpoint = {
  readonly url: string;
  readonly token: string | null;
  /** Left out: it is called as the legacy era has it. */
  readonly era?: "modern";
};

/** Opens sessions as a client does, and gives the file that holds their ids, one a line; null in the modern era, which has none. */
export async function openSessions(folder: string, name: string, endpoint: Endpoint, count: number): Promise<string | null> {
  if (endpoint.era === "modern") return null;
  const ids: string[] = [];
  for (let opened = 0; opened < count; opened++) ids.push(await openSession(endpoint));
  const file = join(folder, `${name}-${count}.sessions`);
  writeFileSync(file, `${ids.join("\n")}\n`);
  return file;
}

async function openSession({ url, token }: Endpoint): Promise<string> {
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  };
  const post = async (message: object, more: Record<string, string>): Promise<Response> => {
    const answer = await fetch(url, { method: "POST", headers: { ...headers, ...more }, body: JSON.stringify(message) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${url}: ${answer.status} for ${JSON.stringify(message)}: ${text.slice(0, 200)}`);
    return answer;
  };
  const params = { protocolVersion: VERSION, capabilities: {}, clientInfo: { name: "bench", version: "1" } };
  const id = (await post({ jsonrpc: "2.0", id: 0, method: "initialize", params }, {})).headers.get("mcp-session-id");
  if (id === null) throw new Error(`${url}: it opened no session`);
  await post({ jsonrpc: "2.0", method: "notifications/initialized" }, { "mcp-session-id": id, "mcp-protocol-version": VERSION });
  return id;
}
