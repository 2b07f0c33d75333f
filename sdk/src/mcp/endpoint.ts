import { METHOD_HEADER } from "@agent-env/protocol";
import type { McpContent } from "./content.ts";
import { LegacySessions } from "./legacy.ts";
import { ModernCalls, modernServer } from "./modern-server.ts";
import type { McpPackages } from "./packages.ts";

/** As large as a gateway's messages may be by default. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

type ModernHandler = ReturnType<McpPackages["modern"]["createMcpHandler"]>;

/** MCP over HTTP at one address, in both eras, decided for each request. */
export class McpEndpoint {
  readonly #packages: McpPackages;
  readonly #legacy: LegacySessions;
  readonly #modern: ModernHandler;
  /** Apart from the calls, since they can be ended without one being lost. */
  readonly #listens: ModernHandler;

  constructor(packages: McpPackages, content: McpContent) {
    this.#packages = packages;
    this.#legacy = new LegacySessions(packages, content, MAX_MESSAGE_BYTES);
    const calls = new ModernCalls();
    const handler = (bus?: ModernHandler["bus"]) =>
      packages.modern.createMcpHandler(() => modernServer(packages, content, calls), {
        legacy: "reject",
        maxRequestBodySize: MAX_MESSAGE_BYTES,
        ...(bus === undefined ? {} : { bus }),
      });
    this.#modern = handler();
    this.#listens = handler(this.#modern.bus);
  }

  /**
   * Answers a request. With `localOnly` those whose `Host` or `Origin` isn't this machine are 403: a page of somebody's that a
   * browser here shows must not reach it (DNS rebinding).
   */
  async handle(request: Request, { localOnly }: { readonly localOnly: boolean }): Promise<Response> {
    const foreign = localOnly ? this.#foreign(request) : undefined;
    if (foreign !== undefined) return foreign;
    const limit = { maxRequestBodySize: MAX_MESSAGE_BYTES };
    if (await this.#packages.modern.isLegacyRequest(request, undefined, limit)) return await this.#legacy.handle(request);
    const listens = request.headers.get(METHOD_HEADER) === "subscriptions/listen";
    return await (listens ? this.#listens : this.#modern).fetch(request);
  }

  #foreign(request: Request): Response | undefined {
    const { modern } = this.#packages;
    return (
      modern.hostHeaderValidationResponse(request, modern.localhostAllowedHostnames()) ??
      modern.originValidationResponse(request, modern.localhostAllowedOrigins())
    );
  }

  /** Tells all who listen that the list of tools reads differently now. */
  async toolsChanged(): Promise<void> {
    this.#modern.notify.toolsChanged();
    await this.#legacy.toolsChanged();
  }

  /** Tells those who watch a resource that it reads differently now. */
  async resourceUpdated(uri: string): Promise<void> {
    this.#modern.notify.resourceUpdated(uri);
    await this.#legacy.resourceUpdated(uri);
  }

  /** Ends the streams that wait for nothing in particular, so that only calls in flight hold their connections. */
  async endIdleStreams(): Promise<void> {
    this.#legacy.endIdleStreams();
    await this.#listens.close();
  }
}
