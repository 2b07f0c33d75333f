/**
 * The SDK with the MCP packages inside: what is bundled into one file for the base image and for servers that run as
 * processes.
 */
import * as server from "@modelcontextprotocol/sdk/server/index.js";
import * as transport from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import * as types from "@modelcontextprotocol/sdk/types.js";
import * as validation from "@modelcontextprotocol/sdk/validation/cfworker";
import * as modern from "@modelcontextprotocol/server";
import { provideMcpPackages } from "./mcp/packages.ts";

provideMcpPackages({ server, transport, types, validation, modern });

export * from "./index.ts";
