/** What a sandbox provider can do. Preflight, deploy and `doctor` read this and nothing else (5-run §2.5). */
export type SandboxCapabilities = {
  readonly name: string;
  readonly runs: string;
  /** `build`: an image built on an Engine; `source`: the image's stored context. */
  readonly image: "build" | "source";
  readonly websites: boolean;
  readonly gateways: readonly ("container" | "edge")[];
  readonly longestTtlSeconds: number;
  readonly isolates: string;
  /** Holds a server to `cpu` and `memory_mb`. */
  readonly limits: boolean;
};

/** The built-in ones. */
export const SANDBOXES = {
  local: {
    name: "local",
    runs: "containers",
    image: "build",
    websites: true,
    gateways: ["container", "edge"],
    longestTtlSeconds: 1_209_600,
    isolates: "containers with limits",
    limits: true,
  },
  process: {
    name: "process",
    runs: "processes of this machine",
    image: "source",
    websites: true,
    gateways: ["container", "edge"],
    longestTtlSeconds: 1_209_600,
    isolates: "nothing",
    limits: false,
  },
} as const satisfies Record<string, SandboxCapabilities>;

/** What an environment provider deploys. `canDeploy` is the one rule on top of it (4-bundle §7.4). */
export type EnvProviderCapabilities = {
  readonly name: string;
  /** The env types it takes. */
  readonly types: readonly string[];
  /** It gives its own containers names next to the servers' (`gateway`, `servicedb`, …). */
  readonly reservesNames: boolean;
  /** A multi becomes one card, one MCP server and one website of one name. */
  readonly oneCard: boolean;
  /** Deploy options that it doesn't take: refused when set away from their defaults. */
  readonly refusesOptions: readonly ("gateway_mode" | "auth")[];
};

export const ENV_PROVIDERS = {
  gateway: { name: "gateway", types: ["mcp_server", "website", "multi"], reservesNames: true, oneCard: false, refusesOptions: [] },
  server: {
    name: "server",
    types: ["mcp_server"],
    reservesNames: false,
    oneCard: false,
    refusesOptions: ["gateway_mode", "auth"],
  },
} as const satisfies Record<string, EnvProviderCapabilities>;
