import { randomUUID } from "node:crypto";
import { errorAnswer, INVALID_REQUEST, SESSION_HEADER } from "@agent-env/protocol";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { McpPackages } from "./packages.ts";
import { type McpContent, mcpServer } from "./server.ts";

/** As large as a gateway's messages may be by default. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Clients may leave without closing their session: beyond this number the one unused the longest is closed. */
const MAX_SESSIONS = 10_000;

type Session = { readonly server: Server; readonly transport: WebStandardStreamableHTTPServerTransport };

/** Streamable HTTP with sessions: one MCP server a session, as the protocol's 2025 revisions have it. */
export class McpEndpoint {
  readonly #packages: McpPackages;
  readonly #content: McpContent;
  /** In the order of their last use. */
  readonly #sessions = new Map<string, Session>();

  constructor(packages: McpPackages, content: McpContent) {
    this.#packages = packages;
    this.#content = content;
  }

  /** Answers a request. One that names no session opens one, if it is an `initialize`; an unknown session is 404. */
  async handle(request: Request): Promise<Response> {
    const id = request.headers.get(SESSION_HEADER);
    if (id === null) return await this.#open(request);
    const session = this.#sessions.get(id);
    if (session === undefined) return sessionNotFound();
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return await session.transport.handleRequest(request);
  }

  /** Tells all sessions that the list of tools reads differently now. */
  async toolsChanged(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map(({ server }) => server.sendToolListChanged()));
  }

  /** Ends the streams that wait for nothing in particular, so that only calls in flight hold their connections. */
  endIdleStreams(): void {
    for (const { transport } of this.#sessions.values()) transport.closeStandaloneSSEStream();
  }

  async #open(request: Request): Promise<Response> {
    const server = mcpServer(this.#packages, this.#content);
    const transport = new this.#packages.transport.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID().replaceAll("-", ""),
      onsessioninitialized: (id) => void this.#sessions.set(id, { server, transport }),
      onsessionclosed: (id) => void this.#sessions.delete(id),
      maxRequestBodySize: MAX_MESSAGE_BYTES,
    });
    await server.connect(transport);
    const response = await transport.handleRequest(request);
    if (transport.sessionId === undefined) await server.close();
    await this.#trim();
    return response;
  }

  async #trim(): Promise<void> {
    for (const [id, { server }] of this.#sessions) {
      if (this.#sessions.size <= MAX_SESSIONS) return;
      this.#sessions.delete(id);
      await server.close();
    }
  }
}

function sessionNotFound(): Response {
  return Response.json(errorAnswer(null, INVALID_REQUEST, "Session not found"), { status: 404 });
}
