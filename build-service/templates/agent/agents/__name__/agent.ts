import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";

const port = Number(process.env["A2A_PORT"] ?? 8000);
const card = {
  protocolVersion: "0.3.0",
  name: "__name__",
  description: "Repeats what it is told.",
  version: "0.1.0",
  url: `http://localhost:${port}/a2a`,
  preferredTransport: "JSONRPC",
  capabilities: {},
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "repeat", name: "Repeat", description: "Repeats what it is told.", tags: [] }],
};

type Part = { readonly kind: string; readonly text?: string };
type Request = { readonly id: unknown; readonly method: string; readonly params: { readonly id?: string; readonly message?: Message } };
type Message = { readonly contextId?: string; readonly parts: readonly Part[] };
type Task = { readonly kind: "task"; readonly id: string; readonly contextId: string; readonly status: unknown };

const tasks = new Map<string, Task>();

/** The agent itself: what it makes of a prompt. A model would be asked here. */
function reply(prompt: string): string {
  return `${process.env["GREETING"] ?? "You said"}: ${prompt}`;
}

/** One prompt as a finished task (A2A `message/send`). */
function send({ contextId = randomUUID(), parts }: Message): Task {
  const prompt = parts.map((part) => part.text ?? "").join("\n");
  const message = { kind: "message", role: "agent", messageId: randomUUID(), parts: [{ kind: "text", text: reply(prompt) }] };
  const task: Task = { kind: "task", id: randomUUID(), contextId, status: { state: "completed", message } };
  tasks.set(task.id, task);
  return task;
}

function answer({ id, method, params }: Request): object {
  const task = method === "message/send" && params.message ? send(params.message) : tasks.get(params.id ?? "");
  if (method !== "message/send" && method !== "tasks/get")
    return { jsonrpc: "2.0", id, error: { code: -32601, message: `no method ${method}` } };
  return task ? { jsonrpc: "2.0", id, result: task } : { jsonrpc: "2.0", id, error: { code: -32001, message: "no such task" } };
}

async function respond(request: IncomingMessage): Promise<{ status: number; body: object }> {
  if (request.url === "/.well-known/agent.json") return { status: 200, body: card };
  if (request.url !== "/a2a" || request.method !== "POST") return { status: 404, body: { error: "not found" } };
  return { status: 200, body: answer(JSON.parse(await text(request))) };
}

createServer(async (request, response) => {
  const { status, body } = await respond(request).catch(() => ({ status: 400, body: { error: "no JSON-RPC request" } }));
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}).listen(port);
