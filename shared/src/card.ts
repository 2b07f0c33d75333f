import { z } from "zod";

/** Where every environment serves its card (3-wire §constants). */
export const CARD_PATH = "/.well-known/agent-env.json";
export const PROTOCOL_VERSION = "1.0";
export const DATA_PLANE_PATH = "/agentenv";
/** Always listed in this order. */
export const DATA_OPERATIONS = ["data/reset", "data/add", "data/get"] as const;
/** Transport id of an MCP endpoint in `additionalInterfaces`. */
export const MCP_TRANSPORT = "mcp";
/** MCP path of a server whose card declares none. */
export const DEFAULT_MCP_PATH = "/mcp";

const Interface = z.looseObject({ url: z.string(), transport: z.string() });

const Extension = z.looseObject({
  uri: z.string(),
  description: z.string().nullish(),
  params: z.record(z.string(), z.unknown()).nullish(),
  required: z.boolean().nullish(),
});

const CardTool = z.looseObject({
  name: z.string(),
  description: z.string().nullish(),
  inputSchema: z.record(z.string(), z.unknown()).nullish(),
});

/**
 * An environment's card, read loosely: unknown keys stay, null and a missing key mean the same (3-wire §card). What the
 * original refuses as a card (no object, no non-empty `name`) doesn't pass.
 */
export const Card = z.looseObject({
  name: z.string().min(1),
  protocolVersion: z.string().default(PROTOCOL_VERSION),
  url: z.string().default(DATA_PLANE_PATH),
  preferredTransport: z.string().default("JSONRPC"),
  additionalInterfaces: z.array(Interface).default([]),
  capabilities: z.looseObject({
    extensions: z.array(Extension).nullish(),
    tools: z.array(CardTool).nullish(),
    operations: z.array(z.string()).nullish(),
  }),
  children_environments: z.array(z.unknown()).nullish(),
});
export type Card = z.infer<typeof Card>;
