import { DATA_OPERATIONS, DATA_PLANE_PATH, DEFAULT_MCP_PATH, MCP_TRANSPORT, PROTOCOL_VERSION } from "@agent-env/protocol";
import { AuthorError } from "./author-error.ts";
import type { ListedTool } from "./tools.ts";

type Interface = { readonly url: string; readonly transport: string };
export type CardExtension = {
  readonly uri: string;
  readonly description?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly required?: boolean;
};
type CardTool = { readonly name: string; readonly description?: string; readonly inputSchema?: unknown };

/** What an author says about an environment. Everything else on the card is what the environment really serves. */
export type CardDeclaration = {
  /** The variable `ENVIRONMENT_NAME`, which a deploy sets, wins over it. */
  readonly name?: string;
  /** Further interfaces. One with transport `mcp` replaces the derived one. */
  readonly additionalInterfaces?: readonly Interface[];
  readonly capabilities?: {
    /** Win over derived ones of the same name. */
    readonly tools?: readonly CardTool[];
    /** Win over derived ones of the same URI. */
    readonly extensions?: readonly CardExtension[];
  };
  readonly [key: string]: unknown;
};

/** What the declaration is read for. It may hold other members, which are passed on. */
export const CARD_OPTIONS = { name: true, additionalInterfaces: true, capabilities: true } as const;

/** An environment's card as its author declares it. The build service reads the literal `name` from the source. */
export function environmentCard(declaration: CardDeclaration): CardDeclaration {
  if (declaration.name === "") {
    throw new AuthorError({
      what: "environmentCard: name is empty",
      why: "the name is how the environment is found in a deployment",
      next: 'write one, for example environmentCard({ name: "items" })',
    });
  }
  return declaration;
}

/** `ENVIRONMENT_NAME`, else the declared name, else the class's. */
export function environmentName(declaration: CardDeclaration, className: string): string {
  return process.env["ENVIRONMENT_NAME"] || declaration.name || className;
}

/** Where the environment serves MCP: at the declared interface if that is a path of its own, else at `/mcp`. */
export function mcpPath({ additionalInterfaces = [] }: CardDeclaration): string {
  const declared = additionalInterfaces.find(({ transport, url }) => transport === MCP_TRANSPORT && url !== "");
  if (declared === undefined || URL.canParse(declared.url)) return DEFAULT_MCP_PATH;
  return new URL(declared.url, "http://environment/").pathname.replace(/\/+$/, "");
}

/** What an environment serves, as far as its card shows it. */
export type Served = {
  readonly name: string;
  readonly operations: readonly string[];
  readonly mcp: boolean;
  readonly tools: readonly ListedTool[];
  readonly extensions: readonly CardExtension[];
};

/** The card as it is served (3-wire §card, Writing). */
export function cardOf(declaration: CardDeclaration, served: Served): Readonly<Record<string, unknown>> {
  const { additionalInterfaces = [], capabilities = {}, ...others } = declaration;
  const declaresMcp = additionalInterfaces.some(({ transport }) => transport === MCP_TRANSPORT);
  const derived = served.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  const tools = declaredFirst(capabilities.tools ?? [], derived, ({ name }) => name);
  const extensions = declaredFirst(capabilities.extensions ?? [], served.extensions, ({ uri }) => uri);
  return {
    ...others,
    name: served.name,
    protocolVersion: PROTOCOL_VERSION,
    url: DATA_PLANE_PATH,
    preferredTransport: "JSONRPC",
    additionalInterfaces:
      served.mcp && !declaresMcp ? [{ url: DEFAULT_MCP_PATH, transport: MCP_TRANSPORT }, ...additionalInterfaces] : additionalInterfaces,
    capabilities: {
      ...capabilities,
      operations: DATA_OPERATIONS.filter((operation) => served.operations.includes(operation)),
      extensions: extensions.length === 0 ? null : extensions,
      tools: tools.length === 0 ? null : tools,
    },
    children_environments: null,
  };
}

/** The derived entries in their order, each replaced by the declared one of its key, then the other declared ones. */
function declaredFirst<T>(declared: readonly T[], derived: readonly T[], key: (entry: T) => string): T[] {
  const byKey = new Map([...derived, ...declared].map((entry) => [key(entry), entry]));
  return [...byKey.values()];
}
