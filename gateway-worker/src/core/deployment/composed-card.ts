import { DATA_PLANE_PATH, isJsonObject, type JsonObject, MCP_TRANSPORT, PROTOCOL_VERSION, pathOnServer } from "@agent-env/protocol";
import { GATEWAY_EXTENSIONS, type GatewayExtension } from "./gateway-extensions.ts";

export type Child = { readonly key: string; readonly raw: JsonObject; readonly origins: readonly string[] };

/** The gateway's card over those of its servers. */
export function composedCard(name: string, children: readonly Child[], extensions = GATEWAY_EXTENSIONS): JsonObject {
  return {
    name,
    protocolVersion: PROTOCOL_VERSION,
    url: DATA_PLANE_PATH,
    preferredTransport: "JSONRPC",
    additionalInterfaces: [{ url: "/mcp", transport: MCP_TRANSPORT }],
    capabilities: { extensions: extensions.map((extension) => ({ ...extension, required: false })) },
    children_environments: children.map((child) => childCard(child, extensions)),
  };
}

/** A server's card as the gateway shows it: its paths lead through `/svc`, unknown keys stay (3-wire §composed 1–5). */
export function childCard(child: Child, extensions: readonly GatewayExtension[]): JsonObject {
  const { raw } = child;
  const capabilities = isJsonObject(raw["capabilities"]) ? raw["capabilities"] : {};
  const listed = capabilities["extensions"];
  const url = typeof raw["url"] === "string" ? raw["url"] : DATA_PLANE_PATH;
  return {
    ...raw,
    url: throughService(url.replace(/(.)\/$/, "$1"), child),
    additionalInterfaces: [],
    capabilities: Array.isArray(listed)
      ? { ...capabilities, extensions: listed.map((entry) => childExtension(entry, child, extensions)) }
      : capabilities,
    children_environments: null,
  };
}

function childExtension(entry: unknown, child: Child, extensions: readonly GatewayExtension[]): unknown {
  if (!isJsonObject(entry) || !isJsonObject(entry["params"])) return entry;
  const own = extensions.find((extension) => extension.uri === entry["uri"]);
  return { ...entry, params: childParams(entry["params"], child, own) };
}

function childParams(params: JsonObject, child: Child, own: GatewayExtension | undefined): JsonObject {
  const endpoint = typeof params["endpoint"] === "string" ? params["endpoint"] : undefined;
  const methods = isJsonObject(params["methods"]) ? params["methods"] : undefined;
  if (methods === undefined) {
    const isOurs = own !== undefined && endpoint === own.params.endpoint && offers(own, null, "POST", endpoint);
    return endpoint === undefined || isOurs ? params : { ...params, endpoint: throughService(endpoint, child) };
  }
  const inherits = (method: JsonObject) => typeof method["endpoint"] !== "string";
  const isOurs = (name: string, method: JsonObject) =>
    own !== undefined && offers(own, name, verbOf(method), typeof method["endpoint"] === "string" ? method["endpoint"] : endpoint);
  const entries = Object.entries(methods).filter((pair): pair is [string, JsonObject] => isJsonObject(pair[1]));
  const inheriting = entries.filter(([, method]) => inherits(method));
  const keepsEndpoint =
    inheriting.length > 0
      ? inheriting.some(([name, method]) => isOurs(name, method))
      : own !== undefined && endpoint === own.params.endpoint;
  const rewritten = entries.map(([name, method]): [string, JsonObject] => {
    if (isOurs(name, method)) return [name, method];
    if (typeof method["endpoint"] === "string") return [name, { ...method, endpoint: throughService(method["endpoint"], child) }];
    return [name, keepsEndpoint && endpoint !== undefined ? { ...method, endpoint: throughService(endpoint, child) } : method];
  });
  const shown = { ...params, methods: { ...methods, ...Object.fromEntries(rewritten) } };
  return endpoint === undefined ? shown : { ...shown, endpoint: keepsEndpoint ? endpoint : throughService(endpoint, child) };
}

function verbOf(method: JsonObject): string {
  return typeof method["method"] === "string" ? method["method"].toUpperCase() : "POST";
}

/** Whether the gateway offers exactly this operation: then its own route serves it. A null name: one without methods. */
function offers(own: GatewayExtension, name: string | null, verb: string, endpoint: string | undefined): boolean {
  const methods = Object.entries(own.params.methods);
  return methods.some(
    ([ownName, method]) =>
      (name === null || name === ownName) && method.method === verb && (method.endpoint ?? own.params.endpoint) === endpoint,
  );
}

/** A path on the server as one under `/svc/<key>`. What is on another address stays. */
function throughService(url: string, child: Child): string {
  if (url.startsWith("/") && !/^\/[/\\]/.test(url)) return `/svc/${child.key}${url}`;
  const path = pathOnServer(url, child.origins);
  return path === null ? url : `/svc/${child.key}${path}`;
}
