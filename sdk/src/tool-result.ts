import type { ErrorFields } from "./agent-env-error.ts";

/** A content item of MCP. */
export type ToolContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "audio"; readonly data: string; readonly mimeType: string }
  | { readonly type: "resource_link"; readonly uri: string; readonly name: string; readonly mimeType?: string }
  | {
      readonly type: "resource";
      readonly resource: { readonly uri: string; readonly mimeType?: string; readonly text?: string; readonly blob?: string };
    };

/** A complete result of a tool call, as MCP has it. */
export type ToolResultBody = {
  readonly content: readonly ToolContent[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
  readonly _meta?: Readonly<Record<string, unknown>>;
};

/** What a tool returns to decide its whole answer: an image, several items, `_meta`. */
export class ToolResult {
  readonly body: ToolResultBody;

  constructor(body: ToolResultBody) {
    this.body = body;
  }
}

/** Text as it is, nothing as no content, any other value as JSON. */
export function plainResult(value: unknown): ToolResultBody {
  return { content: contentOf(value), isError: false };
}

/** The value as structured content, and as text for clients that read only that. */
export function structuredResult(value: unknown, isObject: boolean): ToolResultBody {
  return {
    content: contentOf(value),
    structuredContent: isObject ? Object.fromEntries(Object.entries(value ?? {})) : { result: value },
    isError: false,
  };
}

/** An answer that says what went wrong. */
export function errorResult(text: string, fields?: ErrorFields): ToolResultBody {
  return { content: [{ type: "text", text }], ...(fields === undefined ? {} : { structuredContent: { ...fields } }), isError: true };
}

function contentOf(value: unknown): ToolContent[] {
  if (value === undefined || value === null) return [];
  return [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) }];
}
