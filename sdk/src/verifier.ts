import type { ToolContent } from "./tool-result.ts";

/** One thing that a verifier found. Further keys are kept. */
export type Row = {
  readonly result: boolean;
  readonly id?: string;
  /** 0 to 1; without it 1 or 0 by `result`. */
  readonly score?: number;
  readonly weight?: number;
  readonly description?: string;
  readonly justification?: string;
  readonly skipped?: boolean;
  readonly [key: string]: unknown;
};

/** The result of a tool call, as MCP has it. */
export type CallResult = {
  readonly content: readonly ToolContent[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
};

/** What a verifier in TypeScript or JavaScript gets beside the MCP address. */
export type VerifierContext = {
  /** The conversation that is judged; null where there was none. */
  readonly run: unknown;
  /** What is deployed, with the card it serves. */
  readonly env: {
    readonly id: string;
    readonly version: number;
    readonly deployment_id: string;
    readonly card: Readonly<Record<string, unknown>> | null;
  };
  listTools(): Promise<readonly { readonly name: string; readonly description?: string; readonly inputSchema: unknown }[]>;
  callTool(name: string, args?: Readonly<Record<string, unknown>>): Promise<CallResult>;
  /** `path` is relative to the gateway: `/website/shop/`, `/svc/shop/api/orders`. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
};

/** The default export, or the export `verify`, of a verifier script. */
export type Verify = (mcpUrl: string, context: VerifierContext) => readonly Row[] | Promise<readonly Row[]>;
