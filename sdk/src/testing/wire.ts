import { isJsonObject, Part } from "@agent-env/protocol";
import { z } from "zod";
import type { ToolContent } from "../tool-result.ts";
import type { McpAnswer } from "./mcp-client.ts";

/** What a tool call came to, and what the client was told while it ran. */
export type Called = {
  /** The texts of the content, a line each. */
  readonly text: string;
  readonly content: readonly ToolContent[];
  readonly structuredContent: unknown;
  readonly isError: boolean;
  readonly progress: readonly z.infer<typeof Progress>[];
  readonly log: readonly z.infer<typeof LogLine>[];
};

const Progress = z.object({ progress: z.number(), total: z.number().optional(), message: z.string().optional() });
const LogLine = z.object({ level: z.string(), data: z.unknown() });
const CallResult = z.object({
  content: z.array(z.custom<ToolContent>(isJsonObject)).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().default(false),
});

export function calledWith({ result, notifications }: McpAnswer): Called {
  const { content, structuredContent, isError } = CallResult.parse(result);
  const told = (method: string) => notifications.filter((message) => message["method"] === method).map(({ params }) => params);
  return {
    text: content.flatMap((item) => (item.type === "text" ? [item.text] : [])).join("\n"),
    content,
    structuredContent,
    isError,
    progress: z.array(Progress).parse(told("notifications/progress")),
    log: z.array(LogLine).parse(told("notifications/message")),
  };
}

export const Parts = z.object({ parts: z.array(Part) });
export const Contents = z.object({ contents: z.array(z.object({ text: z.string().optional(), blob: z.string().optional() })) });
export const DataPlaneAnswer = z.object({
  result: z.unknown().optional(),
  error: z.object({ message: z.string(), data: z.object({ detail: z.string().optional() }).optional() }).optional(),
});

const Card = z.object({
  additionalInterfaces: z.array(z.object({ url: z.string(), transport: z.string() })),
  capabilities: z.object({
    extensions: z
      .array(
        z.object({
          uri: z.string(),
          params: z
            .object({
              endpoint: z.string().optional(),
              methods: z.record(z.string(), z.object({ method: z.string().default("POST"), endpoint: z.string().optional() })).default({}),
            })
            .optional(),
        }),
      )
      .nullable(),
  }),
});

/** Where a card says that MCP is; undefined where it says nothing. */
export function mcpPathOf(card: unknown): string | undefined {
  return Card.parse(card).additionalInterfaces.find(({ transport, url }) => transport === "mcp" && url !== "")?.url;
}

/** Verb and path of an extension's method, as the card has them. */
export function advertised(card: unknown, uri: string, op: string): { readonly verb: string; readonly path: string } {
  const extension = Card.parse(card).capabilities.extensions?.find((listed) => listed.uri === uri);
  const method = extension?.params?.methods[op];
  const path = method?.endpoint ?? extension?.params?.endpoint;
  if (method === undefined || path === undefined) throw new Error(`the card lists no method ${JSON.stringify(op)} of ${uri}`);
  return { verb: method.method.toUpperCase(), path };
}
