import type { CardDeclaration } from "./card.ts";
import { Environment } from "./environment.ts";
import { requireMcpPackages } from "./mcp/packages.ts";
import { type Place, portFrom } from "./place.ts";

/** An MCP server environment: listens on `MCP_HOST` and `MCP_PORT` (`0.0.0.0`, 18765), and always serves MCP. */
export class McpEnvironment extends Environment {
  constructor(card?: CardDeclaration) {
    super(card);
    requireMcpPackages(`environment ${this.name}`);
  }

  override servesMcp(): boolean {
    return true;
  }

  protected override place(): Place {
    return { host: process.env["MCP_HOST"] || "0.0.0.0", port: portFrom("MCP_PORT", 18765) };
  }
}
