import { randomUUID } from "node:crypto";
import http from "node:http";
import { echoAnswer } from "./echo-tool.ts";

/**
 * The server behind every gateway, in plain `node:http`, so that what is slow is the gateway: `node echo-http.ts PORT`. Besides
 * MCP it swallows uploads at `/sink`, and tells at `/calls` how many calls it has answered.
 */
const sessions = new Set<string>();
let calls = 0;

const server = http.createServer((request, response) => {
  if (request.url === "/sink") return swallow(request, response);
  if (request.url === "/calls") return void response.end(String(calls));
  if (request.url !== "/mcp") return void response.writeHead(404).end();
  if (request.method !== "POST") return void response.writeHead(405, { allow: "POST" }).end();
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk: string) => {
    body += chunk;
  });
  request.on("end", () => answer(body, request, response));
});

function answer(body: string, request: http.IncomingMessage, response: http.ServerResponse): void {
  const message = JSON.parse(body);
  const session = request.headers["mcp-session-id"];
  if (message.method === "initialize") {
    const opened = randomUUID();
    sessions.add(opened);
    response.setHeader("mcp-session-id", opened);
  } else if (typeof session !== "string" || !sessions.has(session)) return void response.writeHead(404).end();
  const text = echoAnswer(message);
  if (text === null) return void response.writeHead(202).end();
  if (message.method === "tools/call") calls++;
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) }).end(text);
}

function swallow(request: http.IncomingMessage, response: http.ServerResponse): void {
  let size = 0;
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
  });
  request.on("end", () => response.end(String(size)));
}

server.keepAliveTimeout = 65_000;
server.listen(Number(process.argv[2]), "127.0.0.1");
