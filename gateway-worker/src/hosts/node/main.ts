import { mkdirSync } from "node:fs";
import type { Server } from "node:http";
import { dirname } from "node:path";
import { UserError } from "@agent-env/protocol";
import { isLoopback, servesAnyHost } from "../../core/auth/origin.ts";
import { Deployment } from "../../core/deployment/deployment.ts";
import { StartFailed, start } from "../../core/deployment/start.ts";
import { Gateway } from "../../core/gateway.ts";
import { settingsFrom } from "../../core/settings.ts";
import { pause, within } from "../../core/timing.ts";
import type { HostRules } from "../../core/view.ts";
import { observerFor } from "../observer.ts";
import { changelogAt } from "./changelog.ts";
import { nodeHost } from "./host.ts";
import { runProbes } from "./probe.ts";
import { recordFrom } from "./record.ts";
import { gatewayServer } from "./server.ts";
import { NodeSql } from "./sql.ts";
import { trajectoryFile } from "./trajectory-file.ts";
import { upstream } from "./upstream.ts";

const AGAIN_MS = 1_000;
const FLUSH_MS = 2_000;
let isStopping = false;

/** Serves the one deployment that the environment names, until it is told to stop or can't start. */
async function serve(): Promise<void> {
  const record = recordFrom(process.env);
  const settings = settingsFrom(process.env);
  const { host, port } = listenAddress();
  if (record.auth.mode === "open") refuseOpenOn(host);
  const sql = openState(process.env["GATEWAY_STATE_FILE"] ?? ":memory:");
  const hosts: HostRules = {
    any: record.deployment_id === undefined || servesAnyHost(record),
    names: ["gateway", `gateway-${record.deployment_id}`, ...record.hosts.map((name) => name.toLowerCase())],
    suffixes: ["localhost"],
    label: null,
  };
  const address = { host, port };
  const copyTo = trajectoryFile(process.env["GATEWAY_TRAJECTORY_FILE"]?.trim() ?? "");
  const changes = changelogAt(record.service_db_url ?? "", log);
  const observer = observerFor(settings, { upstream, log });
  const parts = {
    record,
    sql,
    ownUrl: () => addressForServers(address),
    ...(copyTo === null ? {} : { copyTo }),
    ...(changes === null ? {} : { changes }),
    ...(observer === undefined ? {} : { observer }),
  };
  const deployment = new Deployment(nodeHost(parts), settings, hosts);
  const gateway = new Gateway(deployment);
  const server = gatewayServer(gateway);
  await listening(server, { host, port, next: "set MCP_HOST or MCP_PORT" });
  const browserPort = record.browser_port;
  if (browserPort !== undefined)
    await listening(gatewayServer(gateway, "browser"), { host, port: browserPort, next: "change browser_port in GATEWAY_RECORD" });
  const bound = server.address();
  if (typeof bound === "object" && bound !== null) address.port = bound.port;
  process.stderr.write(`gateway ${record.name}: listening on port ${address.port}\n`);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop(deployment));
  await untilStarted(deployment);
  process.stderr.write(`gateway ${record.name}: ready\n`);
}

/** Spans that still wait are sent first, as far as that is soon done. A second signal finds nothing to wait for. */
async function stop({ host }: Deployment): Promise<never> {
  if (!isStopping && host.observer?.exporter != null) {
    isStopping = true;
    await within(host.observer.exporter.drain(), FLUSH_MS);
  }
  process.exit(0);
}

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** A start that fails ends the process, for its restart policy; where there is none, it is begun again here. */
async function untilStarted(deployment: Deployment): Promise<void> {
  const restartsItself = process.env["GATEWAY_RESTARTS_ITSELF"] === "1";
  for (;;) {
    try {
      return await start(deployment);
    } catch (error) {
      if (!(error instanceof StartFailed) || !restartsItself) throw error;
      deployment.host.log(error.message);
      await pause(AGAIN_MS);
    }
  }
}

/** On a container network the gateway has a name; without one its servers are on its own machine. */
function addressForServers({ host, port }: { host: string; port: number }): string {
  const isOwnMachine = host === "localhost" || host === "::1" || host.startsWith("127.");
  return isOwnMachine ? `http://${host === "::1" ? "[::1]" : host}:${port}` : `http://gateway:${port}`;
}

function listening(server: Server, { host, port, next }: { host: string; port: number; next: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(new UserError({ what: `${host}:${port}`, why: error.message, next, exitCode: 2 })));
    server.listen(port, host, resolve);
  });
}

function listenAddress(): { host: string; port: number } {
  const text = process.env["MCP_PORT"]?.trim() || "18765";
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return { host: process.env["MCP_HOST"]?.trim() || "0.0.0.0", port };
  throw new UserError({ what: `MCP_PORT: ${JSON.stringify(text)}`, why: "it is no port", next: "leave it out for 18765", exitCode: 2 });
}

/** Callers without tokens may be this machine's, or those of the container's own network: the image says that it runs on one. */
function refuseOpenOn(host: string): void {
  if (isLoopback(host) || process.env["GATEWAY_NETWORK"] === "own") return;
  throw new UserError({
    what: `MCP_HOST: ${JSON.stringify(host)}`,
    why: "callers of this deployment need no token, and whoever reaches this machine could be one",
    next: "set MCP_HOST=127.0.0.1, or deploy it with --auth token",
    exitCode: 2,
  });
}

function openState(path: string): NodeSql {
  try {
    if (path !== ":memory:") mkdirSync(dirname(path), { recursive: true });
    return new NodeSql(path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UserError({
      what: `GATEWAY_STATE_FILE: ${JSON.stringify(path)}`,
      why,
      next: "name a file in a folder that can be written",
      exitCode: 2,
    });
  }
}

async function main(): Promise<void> {
  try {
    if (process.argv[2] === "probe") process.exitCode = await runProbes(process.env["GATEWAY_PROBES"] ?? "");
    else await serve();
  } catch (error) {
    if (error instanceof StartFailed) fail(error.message, 1);
    else if (error instanceof UserError) fail(`${error.message}\n  ${error.why}\n  next: ${error.next}`, error.exitCode);
    else throw error;
  }
}

function fail(message: string, exitCode: number): never {
  process.stderr.write(`${message}\n`);
  process.exit(exitCode);
}

await main();
