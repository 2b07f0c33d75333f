import type { CDPSession, Page, Request, Response } from "playwright-core";
import { CallSites } from "./call-sites.ts";
import { Quiet } from "./quiet.ts";
import { hearStreams } from "./streams.ts";
import type { Sent, SentBy, Socket, Trouble } from "./walk-record.ts";

/** What a page did since it was last asked. */
export type Heard = {
  readonly sent: readonly Sent[];
  readonly troubles: readonly Trouble[];
  readonly sockets: readonly Socket[];
};

/** Why a request was sent, as the browser's protocol says it. */
type Reason = { readonly by: SentBy; readonly at: Sent["at"]; readonly isPage: boolean };
type Initiator = {
  readonly type: string;
  readonly url?: string;
  readonly lineNumber?: number;
  readonly columnNumber?: number;
  readonly stack?: Parameters<CallSites["ofStack"]>[0];
};

/** Listens to one page from before it loads anything: its requests, whoever sent them, its sockets, its errors. */
export class PageRecorder {
  readonly quiet: Quiet;
  readonly callSites: CallSites;
  readonly #reasons = new Map<string, (() => Reason)[]>();
  #requests: Request[] = [];
  readonly #responses = new Map<Request, Response>();
  readonly #sockets = new Map<string, { -readonly [Key in keyof Socket]: Socket[Key] }>();
  #troubles: (() => Trouble)[] = [];

  private constructor(page: Page, callSites: CallSites) {
    this.quiet = new Quiet();
    this.callSites = callSites;
    page.on("request", (request) => {
      this.#requests.push(request);
      this.quiet.began(request);
    });
    page.on("requestfinished", (request) => this.quiet.ended(request));
    page.on("requestfailed", (request) => this.quiet.ended(request));
    page.on("response", (response) => {
      const request = response.request();
      this.#responses.set(request, response);
      // An event stream never ends. For its messages see `hearStreams`.
      if (request.resourceType() === "eventsource") this.quiet.ended(request);
    });
  }

  static async of(page: Page): Promise<PageRecorder> {
    const session = await page.context().newCDPSession(page);
    const recorder = new PageRecorder(page, await CallSites.of(session));
    const { frameTree } = await session.send("Page.getFrameTree");
    recorder.#hearRequests(session, frameTree.frame.id);
    recorder.#hearSockets(session);
    hearStreams(session, recorder.quiet);
    recorder.#hearTroubles(session);
    for (const domain of ["Network.enable", "Runtime.enable", "Log.enable"] as const) await session.send(domain);
    return recorder;
  }

  /** What was heard since the last time. Sockets are told again as long as they are open. */
  async take(): Promise<Heard> {
    await this.callSites.known();
    const sent = this.#requests.map((request) => this.#sent(request));
    const troubles = this.#troubles.map((trouble) => trouble());
    this.#requests = [];
    this.#troubles = [];
    return { sent, troubles, sockets: [...this.#sockets.values()] };
  }

  #hearRequests(session: CDPSession, pageFrame: string): void {
    session.on("Network.requestWillBeSent", ({ request: { method, url }, initiator, redirectResponse, documentURL, frameId, type }) => {
      const key = `${method} ${url}`;
      const isPage = frameId === pageFrame && type === "Document";
      const reason = (): Reason =>
        redirectResponse === undefined ? { ...this.#reason(initiator, documentURL, type), isPage } : { by: "redirect", at: null, isPage };
      this.#reasons.set(key, [...(this.#reasons.get(key) ?? []), reason]);
    });
  }

  #hearSockets(session: CDPSession): void {
    session.on("Network.webSocketCreated", ({ requestId, url, initiator }) => {
      const { by, at } = this.#reason(initiator ?? { type: "other" }, "");
      this.#sockets.set(requestId, { url, by, at, status: null, failure: null });
    });
    session.on("Network.webSocketHandshakeResponseReceived", ({ requestId, response }) => {
      const socket = this.#sockets.get(requestId);
      if (socket !== undefined) socket.status = response.status;
    });
    session.on("Network.webSocketFrameError", ({ requestId, errorMessage }) => {
      const socket = this.#sockets.get(requestId);
      if (socket !== undefined) socket.failure = errorMessage;
    });
  }

  #hearTroubles(session: CDPSession): void {
    session.on("Runtime.exceptionThrown", ({ exceptionDetails: { text, exception, stackTrace, url, lineNumber, columnNumber } }) => {
      const said = exception?.description?.split("\n")[0] ?? String(exception?.value ?? "");
      this.#troubles.push(() => ({
        text: `${text} ${said}`.trim(),
        at: this.callSites.ofStack(stackTrace) ?? (url === undefined ? null : this.callSites.at(url, lineNumber, columnNumber)),
      }));
    });
    session.on("Runtime.consoleAPICalled", ({ type, args, stackTrace }) => {
      if (type !== "error" && type !== "assert") return;
      const said = args.map(({ value, description, type: kind }) => (value === undefined ? (description ?? kind) : String(value)));
      this.#troubles.push(() => ({ text: said.join(" ").split("\n")[0] ?? "", at: this.callSites.ofStack(stackTrace) }));
    });
    // What the network refused is told by the requests themselves.
    session.on("Log.entryAdded", ({ entry: { source, level, text, url, lineNumber } }) => {
      if (level !== "error" || source === "network") return;
      this.#troubles.push(() => ({
        text,
        at: url === undefined || lineNumber === undefined ? null : this.callSites.at(url, lineNumber, 0),
      }));
    });
  }

  #reason({ type, url, lineNumber, columnNumber, stack }: Initiator, document: string, resource?: string): Omit<Reason, "isPage"> {
    if (type === "script") return { by: "script", at: this.callSites.ofStack(stack) };
    // Chromium takes it for the parser's.
    if (resource === "EventSource") return { by: "script", at: null };
    if (type !== "parser" || url === undefined) return { by: "browser", at: null };
    // Markup is read in a line and column of its document; of a style sheet Chromium says the file alone.
    const isMarkup = url === document || lineNumber !== undefined;
    return { by: isMarkup ? "markup" : "style", at: this.callSites.at(url, lineNumber ?? 0, columnNumber ?? 0) };
  }

  #sent(request: Request): Sent {
    const key = `${request.method()} ${request.url()}`;
    const [reason, ...later] = this.#reasons.get(key) ?? [];
    this.#reasons.set(key, later);
    const response = this.#responses.get(request);
    const headers = response?.headers() ?? {};
    return {
      method: request.method(),
      url: request.url(),
      type: request.resourceType(),
      // A worker's own requests are none that the page's session knows of.
      ...(reason?.() ?? { by: "script", at: null, isPage: false }),
      status: response?.status() ?? null,
      failure: request.failure()?.errorText ?? null,
      mime: (headers["content-type"]?.split(";")[0] ?? "").trim().toLowerCase(),
      redirectTo: headers["location"] === undefined ? null : (URL.parse(headers["location"], request.url())?.href ?? null),
      hasPolicy: headers["content-security-policy"] !== undefined,
    };
  }
}
