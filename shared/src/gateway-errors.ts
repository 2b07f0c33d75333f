/** An answer of the gateway's own to a request that it doesn't serve. The body never holds an inner address or a secret. */
export type GatewayError = {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: { readonly error: string };
};

function gatewayError(status: number, error: string, headers: GatewayError["headers"] = []): GatewayError {
  return { status, headers, body: { error } };
}

/** The `Host` is none of ours (DNS rebinding). */
export const foreignHost = (): GatewayError => gatewayError(403, "this Host isn't served here");
/** The `Origin` is not one that may call this route. */
export const foreignOrigin = (): GatewayError => gatewayError(403, "this Origin may not call this route");
/** A browser's request to a route that pages under the same origin could call as their viewer. */
export const browserWithoutToken = (): GatewayError =>
  gatewayError(401, "a browser's request to this route needs a bearer token", [["www-authenticate", "Bearer"]]);
export const notFound = (): GatewayError => gatewayError(404, "Not found");
/** No deployment of that name, or of none. */
export const unknownDeployment = (id: string): GatewayError => gatewayError(404, `Unknown deployment: ${id}`);
/** A key that `/svc` or `/website` doesn't know. */
export const unknownService = (key: string): GatewayError => gatewayError(404, `Unknown service: ${key}`);
export const wrongMethod = (allow: string): GatewayError => gatewayError(405, "Method not allowed", [["allow", allow]]);
/** The route's own part of a path holds an escaped slash, backslash or percent sign. */
export const unroutable = (path: string): GatewayError =>
  gatewayError(400, `cannot route ${JSON.stringify(path)}: escaped in the route prefix`);
/** A path that servers might read in different ways. */
export const unsafePath = (): GatewayError => gatewayError(400, "this path has no single reading");
/** A request target that is neither a path nor an absolute URL. */
export const badTarget = (): GatewayError => gatewayError(400, "this request target can't be served");
export const uriTooLong = (limitBytes: number): GatewayError => gatewayError(414, `the URL is longer than ${limitBytes} bytes`);
export const headersTooLarge = (limitBytes: number): GatewayError => gatewayError(431, `the headers are larger than ${limitBytes} bytes`);
export const roleTooLong = (limit: number): GatewayError => gatewayError(400, `the role is longer than ${limit} characters`);
export const tooManyHops = (limit: number): GatewayError => gatewayError(508, `the request went through ${limit} gateways already`);
/** A deployment whose callers need tokens, and a request without one (RFC 6750 §3). */
export const needsToken = (): GatewayError => gatewayError(401, "a bearer token is needed here", [["www-authenticate", "Bearer"]]);
/** A site's page, for which a browser has a link. */
export const needsPageLink = (): GatewayError =>
  gatewayError(401, "this page opens by a link: agent-env gateway token --page prints one", [["www-authenticate", "Bearer"]]);
/** A token that names no caller of this deployment, and why as far as that may be told. */
export const badToken = (reason: "expired" | "not valid"): GatewayError =>
  gatewayError(401, reason === "expired" ? "the token has expired" : "the token is not valid here", [
    ["www-authenticate", 'Bearer error="invalid_token"'],
  ]);
/** A link that was opened before: its token is accepted once. */
export const usedPageLink = (): GatewayError =>
  gatewayError(401, "this link was used before: agent-env gateway token --page prints another", [
    ["www-authenticate", 'Bearer error="invalid_token"'],
  ]);
/** A good token that isn't for this route. */
export const missingScope = (scope: string): GatewayError =>
  gatewayError(403, `the token has no scope for this: ${scope}`, [
    ["www-authenticate", `Bearer error="insufficient_scope", scope="${scope.replace(/[^!#-[\]-~]/g, "")}"`],
  ]);
/** A role that a token's caller may not take. */
export const otherRole = (): GatewayError => gatewayError(403, "the token's role is another than the one asked for");
/** Callers without tokens are served on their own machine only. */
export const openElsewhere = (): GatewayError => gatewayError(403, "a deployment without tokens is served on its own machine only");
/** Until everything that the deployment consists of is there. */
export const notReady = (text: string): GatewayError => gatewayError(503, text, [["retry-after", "1"]]);
/** A site that was never reached yet. */
export const siteStarting = (site: string): GatewayError => gatewayError(503, `${site} has not started yet`, [["retry-after", "1"]]);
/** Nothing came back from a server. */
export const proxyFailed = (what: string): GatewayError => gatewayError(502, `Proxy request failed: ${what}`);
/** A request to switch protocols has nothing but a head: what follows it is the new protocol's. */
export const upgradeWithBody = (): GatewayError => gatewayError(400, "a request to upgrade may have no body");
/** A body of which nothing came for too long. */
export const bodyTooSlow = (limitMs: number): GatewayError => gatewayError(408, `nothing of the body came for ${limitMs / 1000}s`);
/** A body that ended before its end, or whose chunks are none. */
export const brokenBody = (): GatewayError => gatewayError(400, "the body was cut off, or isn't framed as its headers say");
/** A head of which the end did not come in time. */
export const headTooSlow = (limitMs: number): GatewayError => gatewayError(408, `the request's head took longer than ${limitMs / 1000}s`);
/** Bytes that are no request. */
export const notHttp = (): GatewayError => gatewayError(400, "what was sent is no valid HTTP/1.1");
/** What the gateway's platform can't send: `fetch` refuses it before anything reaches the server. */
export const bodyNotSent = (method: string): GatewayError =>
  gatewayError(501, `this gateway can't pass on a ${method} with a body: leave the body out, or send it by POST`);
/** Servers might take one or the other (RFC 9112 §3.2). */
export const severalHosts = (): GatewayError => gatewayError(400, "the request has more than one Host");
/** A JSON-RPC message to an MCP endpoint that is larger than the gateway reads. */
export const messageTooLarge = (limitBytes: number): GatewayError => gatewayError(413, `the message is larger than ${limitBytes} bytes`);
export const unknownCoding = (coding: string): GatewayError =>
  gatewayError(415, `content coding ${JSON.stringify(coding)} isn't read here`);
export const upgradeAtMcp = (): GatewayError => gatewayError(400, "an MCP endpoint takes no Upgrade through the gateway");
/** A request to the edge gateway whose host and path name no deployment. */
export const noDeployment = (): GatewayError =>
  gatewayError(404, "this request names no deployment: ask at /d/<deployment>/…, or at the deployment's own host");
/** A deployment that was there, and won't be again. Its servers aren't contacted any more. */
export const endedDeployment = (id: string, how: string): GatewayError => gatewayError(410, `Deployment ${id} ${how}`);
/** A deployment whose stored record is none. `field`: where in it; empty: all of it. */
export const brokenRecord = (id: string, field: string): GatewayError =>
  gatewayError(500, `Deployment ${id} has a record that can't be read${field === "" ? "" : `, at ${field}`}: deploy it again`);
/** Neither KV nor R2 answers, and nothing is known of the deployment. */
export const recordsAway = (id: string): GatewayError =>
  gatewayError(503, `the record of deployment ${id} can't be read at the moment`, [["retry-after", "1"]]);
/** A fault of the gateway's own, in one deployment. */
export const deploymentBroke = (id: string): GatewayError =>
  gatewayError(500, `the gateway failed to serve deployment ${id}: its log says why`, [["retry-after", "1"]]);
