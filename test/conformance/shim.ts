import http from "node:http";
import type { AddressInfo } from "node:net";

export type Shim = { readonly port: number; close(): Promise<void> };

type Message = { method?: string; params?: Record<string, unknown>; result?: Record<string, unknown> };

/**
 * A proxy for clients that know a server's tools and prompts by its own names, before a gateway that lists them qualified:
 * puts `<server>__` before names in requests, and takes it off in lists. Who asks at its address asks at the gateway's.
 */
export async function qualifyingShim(target: { port: number; path: string }, server: string): Promise<Shim> {
  const prefix = `${server}__`;
  const proxy = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = qualified(Buffer.concat(chunks).toString(), prefix);
    const { "content-length": _length, ...headers } = request.headers;
    for (const field of ["host", "origin"] as const) {
      const value = headers[field];
      if (value !== undefined) headers[field] = value.replace(/^(http:\/\/)?localhost:\d+$/, `$1localhost:${target.port}`);
    }
    const name = headers["mcp-name"];
    const isNamed = /^(tools\/call|prompts\/get)$/.test(String(headers["mcp-method"]));
    if (typeof name === "string" && isNamed) headers["mcp-name"] = prefix + name;
    const sent = http.request({ port: target.port, host: "127.0.0.1", path: target.path, method: request.method, headers }, (answer) => {
      const { "content-length": _size, ...kept } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, kept);
      response.write("");
      const isEvents = (answer.headers["content-type"] ?? "").startsWith("text/event-stream");
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk: string) => {
        text += chunk;
        if (!isEvents) return;
        const end = text.lastIndexOf("\n") + 1;
        response.write(unqualified(text.slice(0, end), prefix));
        text = text.slice(end);
      });
      answer.on("end", () => response.end(unqualified(text, prefix)));
      answer.on("error", () => response.destroy());
    });
    sent.on("error", () => response.destroy());
    response.on("close", () => sent.destroy());
    sent.end(body);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    port: (proxy.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        proxy.close(() => resolve());
        proxy.closeAllConnections();
      }),
  };
}

/** A request's body with its names qualified; one that isn't about names stays as it is, byte for byte. */
function qualified(body: string, prefix: string): string {
  if (!/"(tools\/call|prompts\/get|completion\/complete)"/.test(body)) return body;
  const message: Message = JSON.parse(body);
  const { params } = message;
  const ref = params?.["ref"];
  if (message.method === "completion/complete" && typeof ref === "object" && ref !== null && "name" in ref)
    return JSON.stringify({ ...message, params: { ...params, ref: { ...ref, name: prefix + String(ref.name) } } });
  if (typeof params?.["name"] !== "string") return body;
  return JSON.stringify({ ...message, params: { ...params, name: prefix + params["name"] } });
}

/** An answer with the names of its lists as the server gave them. */
function unqualified(text: string, prefix: string): string {
  return text.replace(/^(data: ?)?(\{.*"(?:tools|prompts)":\[.*\})$/gm, (_line, data: string | undefined, json: string) => {
    const message: Message = JSON.parse(json);
    const result = { ...message.result };
    for (const key of ["tools", "prompts"]) {
      const items = result[key];
      if (Array.isArray(items)) result[key] = items.map((item) => ({ ...item, name: String(item.name).replace(prefix, "") }));
    }
    return (data ?? "") + JSON.stringify({ ...message, result });
  });
}
