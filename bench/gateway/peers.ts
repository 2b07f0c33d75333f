import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { benchPeerFile } from "../../scripts/setup/peers.ts";
import { type Program, startProgram } from "./program.ts";

const TOOL = fileURLToPath(new URL("echo-stdio.ts", import.meta.url));

/** A gateway from npm. */
export type Peer = {
  readonly name: string;
  /** One that starts the tool once for each session has fewer: with more, memory would be measured. */
  readonly mostSessions: number;
  start(folder: string, port: number): Promise<Program>;
};

type Command = { readonly script: string; readonly argv: (port: string) => readonly string[] };

const MCP_PROXY: Command = {
  script: "mcp-proxy/dist/bin/mcp-proxy.mjs",
  argv: (port) => ["--host", "127.0.0.1", "--port", port, "--server", "stream", "--", process.execPath, TOOL],
};
const SUPERGATEWAY: Command = {
  script: "supergateway/dist/index.js",
  argv: (port) => [
    ...["--stdio", `${process.execPath} ${TOOL}`, "--outputTransport", "streamableHttp", "--stateful"],
    ...["--port", port, "--logLevel", "none"],
  ],
};

/**
 * Gateways from npm before the tool, which they start as a program: they know no servers at addresses. They record nothing, and
 * know neither tokens nor roles.
 */
export const NPM_PEERS: readonly Peer[] = [
  { name: "mcp-proxy", mostSessions: 256, start: (folder, port) => started("mcp-proxy", MCP_PROXY, folder, port) },
  { name: "supergateway", mostSessions: 32, start: (folder, port) => started("supergateway", SUPERGATEWAY, folder, port) },
];

async function started(name: string, { script, argv }: Command, folder: string, port: number): Promise<Program> {
  const file = benchPeerFile(script);
  if (!existsSync(file)) throw new Error(`${file} is not there: npm run setup -- --bench installs it`);
  return await startProgram({
    name,
    folder,
    argv: [process.execPath, file, ...argv(String(port))],
    readyUrl: `http://127.0.0.1:${port}/`,
  });
}
