import { type DeployedServer, DeploymentRecord, UserError } from "@agent-env/protocol";
import { listOf } from "../../core/settings.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type Entry = { readonly variable: string; readonly text: string; readonly name: string; readonly url: string };

const MODES = ["performance", "consistent"];
const MCP_KEY = "mcp-";

/**
 * The deployment's record: `GATEWAY_RECORD`, or one made from the variables that the original's gateway reads, in open
 * mode. Throws a `UserError` that names the variable and the entry.
 */
export function recordFrom(env: Environment): DeploymentRecord {
  const text = env["GATEWAY_RECORD"]?.trim() ?? "";
  return text === "" ? recordFromVariables(env) : parsedRecord(text);
}

function parsedRecord(text: string): DeploymentRecord {
  const parsed = DeploymentRecord.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = (issue?.path ?? []).join(".");
  throw refused("GATEWAY_RECORD", field === "" ? "the whole" : field, issue?.message ?? "it is no deployment record");
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw refused("GATEWAY_RECORD", "the whole", "it is not JSON");
    throw error;
  }
}

function recordFromVariables(env: Environment): DeploymentRecord {
  const port = env["INTERNAL_MCP_PORT"]?.trim() || "18765";
  const servers = unique(
    "INTERNAL_MCP_SERVERS",
    listOf(env["INTERNAL_MCP_SERVERS"]).map((text) => serverEntry(text, port)),
  );
  const services = unique(
    "REST_PROXY_URLS",
    listOf(env["REST_PROXY_URLS"]).map((text) => urlEntry("REST_PROXY_URLS", text)),
  );
  const frontends = unique(
    "WEBSITE_URLS",
    listOf(env["WEBSITE_URLS"]).map((text) => urlEntry("WEBSITE_URLS", text)),
  );
  const mode = env["GATEWAY_MODE"]?.trim() || "performance";
  if (!MODES.includes(mode)) throw refused("GATEWAY_MODE", mode, `it is neither ${MODES.join(" nor ")}`);
  const database = env["SERVICE_DB_URL"]?.trim() ?? "";
  const ofServers = new Set(servers.map(({ name }) => MCP_KEY + name));
  return DeploymentRecord.parse({
    name: env["MCP_SERVER_NAME"]?.trim() || "env",
    auth: { mode: "open" },
    gateway_mode: mode,
    ...(database === "" ? {} : { service_db_url: database }),
    servers: [
      ...servers.map((entry) => mcpServer(entry, services)),
      ...services.filter(({ name }) => !ofServers.has(name)).map((entry) => website(entry, frontends)),
      ...frontends.filter(({ name }) => !services.some((service) => service.name === name)).map(frontendOnly),
    ],
  });
}

function mcpServer({ name, url }: Entry, services: readonly Entry[]): DeployedServer {
  const base = services.find((service) => service.name === MCP_KEY + name)?.url;
  return { name, kind: "mcp", url: base ?? new URL(url).origin, mcp_url: url, ...(base === undefined ? { svc: false } : {}) };
}

function website({ name, url }: Entry, frontends: readonly Entry[]): DeployedServer {
  return { name, kind: "website", url, frontend_url: frontends.find((frontend) => frontend.name === name)?.url };
}

function frontendOnly({ name, url }: Entry): DeployedServer {
  return { name, kind: "website", url, frontend_url: url, svc: false };
}

function serverEntry(text: string, port: string): Entry {
  if (text.includes("=")) return urlEntry("INTERNAL_MCP_SERVERS", text);
  return {
    variable: "INTERNAL_MCP_SERVERS",
    text,
    name: text,
    url: checkedUrl("INTERNAL_MCP_SERVERS", text, `http://${text}:${port}/mcp`),
  };
}

function urlEntry(variable: string, text: string): Entry {
  const equals = text.indexOf("=");
  if (equals < 0) throw refused(variable, text, 'it has no "="');
  const name = text.slice(0, equals).trim();
  const url = text.slice(equals + 1).trim();
  if (name === "") throw refused(variable, text, "the name is empty");
  if (url === "") throw refused(variable, text, "the URL is empty");
  return { variable, text, name, url: checkedUrl(variable, text, url) };
}

function checkedUrl(variable: string, text: string, url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw refused(variable, text, `${JSON.stringify(url)} is no http or https URL`);
  return url;
}

function unique(variable: string, entries: readonly Entry[]): readonly Entry[] {
  const twice = entries.find(({ name }, at) => entries.findIndex((entry) => entry.name === name) !== at);
  if (twice !== undefined) throw refused(variable, twice.text, `the name ${JSON.stringify(twice.name)} is there twice`);
  return entries;
}

function refused(variable: string, entry: string, why: string): UserError {
  return new UserError({
    what: `${variable}: ${JSON.stringify(entry)}`,
    why,
    next: `correct ${variable} and start the gateway again`,
    exitCode: 2,
  });
}
