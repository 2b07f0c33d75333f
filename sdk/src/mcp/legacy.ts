import { randomUUID } from "node:crypto";
import { errorAnswer, INVALID_REQUEST, SESSION_HEADER } from "@agent-env/protocol";
import type { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { McpContent } from "./content.ts";
import { type LegacyServer, legacyServer } from "./legacy-server.ts";
import type { McpPackages } from "./packages.ts";

/** Clients may leave without closing their session: beyond this number the one unused the longest is closed. */
const MAX_SESSIONS = 10_000;

type Session = LegacyServer & { readonly transport: WebStandardStreamableHTTPServerTransport };

/** Streamable HTTP with sessions: one MCP server a session, as the protocol's 2025 revisions have it. */
export class LegacySessions {
  readonly #packages: McpPackages;
  readonly #content: McpContent;
  readonly #maxMessageBytes: number;
  /** In the order of their last use. */
  readonly #sessions = new Map<string, Session>();

  constructor(packages: McpPackages, content: McpContent, maxMessageBytes: number) {
    this.#packages = packages;
    this.#content = content;
    this.#maxMessageBytes = maxMessageBytes;
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

  /** Tells the sessions that watch a resource that it reads differently now. */
  async resourceUpdated(uri: string): Promise<void> {
    const watching = [...this.#sessions.values()].filter((session) => session.watches(uri));
    await Promise.all(watching.map(({ server }) => server.sendResourceUpdated({ uri })));
  }

  /** Ends the streams that wait for nothing in particular, so that only calls in flight hold their connections. */
  endIdleStreams(): void {
    for (const { transport } of this.#sessions.values()) transport.closeStandaloneSSEStream();
  }

  async #open(request: Request): Promise<Response> {
    const opened = legacyServer(this.#packages, this.#content);
    const transport = new this.#packages.transport.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID().replaceAll("-", ""),
      onsessioninitialized: (id) => void this.#sessions.set(id, { ...opened, transport }),
      onsessionclosed: (id) => void this.#sessions.delete(id),
      maxRequestBodySize: this.#maxMessageBytes,
    });
    await opened.server.connect(transport);
    const response = await transport.handleRequest(request);
    if (transport.sessionId === undefined) await opened.server.close();
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
