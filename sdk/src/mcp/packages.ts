import { createRequire } from "node:module";
import { AuthorError } from "../author-error.ts";

/** What this SDK takes from the MCP packages. They are optional peers: a site without tools runs without them. */
export type McpPackages = {
  readonly server: typeof import("@modelcontextprotocol/sdk/server/index.js");
  readonly transport: typeof import("@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js");
  readonly types: typeof import("@modelcontextprotocol/sdk/types.js");
  readonly validation: typeof import("@modelcontextprotocol/sdk/validation/cfworker");
  /** What speaks revision 2026-07-28. The others speak those with a handshake. */
  readonly modern: typeof import("@modelcontextprotocol/server");
};

/** Each with something of it that we import. */
const PACKAGES = [
  ["@modelcontextprotocol/sdk", "@modelcontextprotocol/sdk/types.js"],
  ["@modelcontextprotocol/server", "@modelcontextprotocol/server"],
  ["@cfworker/json-schema", "@cfworker/json-schema"],
] as const;

let provided: McpPackages | undefined;

/** Gives the packages to use: for a build that has them inside. */
export function provideMcpPackages(packages: McpPackages): void {
  provided = packages;
}

/** Throws, naming the packages that are missing. `what` is what needs them. */
export function requireMcpPackages(what: string): void {
  if (provided !== undefined) return;
  const { resolve } = createRequire(import.meta.url);
  const missing = PACKAGES.filter(([, specifier]) => !resolves(resolve, specifier)).map(([name]) => name);
  if (missing.length === 0) return;
  throw new AuthorError({
    what: `${what} needs ${listed(missing)}`,
    why: "tools and resources are served by the MCP packages, which are not installed",
    next: `npm install ${missing.join(" ")}`,
  });
}

export async function loadMcpPackages(): Promise<McpPackages> {
  if (provided !== undefined) return provided;
  const [server, transport, types, validation, modern] = await Promise.all([
    import("@modelcontextprotocol/sdk/server/index.js"),
    import("@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js"),
    import("@modelcontextprotocol/sdk/types.js"),
    import("@modelcontextprotocol/sdk/validation/cfworker"),
    import("@modelcontextprotocol/server"),
  ]);
  return { server, transport, types, validation, modern };
}

const listed = (names: readonly string[]): string => new Intl.ListFormat("en").format(names);

function resolves(resolve: (specifier: string) => string, specifier: string): boolean {
  try {
    resolve(specifier);
    return true;
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "MODULE_NOT_FOUND") return false;
    throw thrown;
  }
}
