import { INVALID_PARAMS } from "@agent-env/protocol";

/** The params of an MCP request are wrong: unknown names, bad arguments, a cursor that was never handed out. */
export class InvalidParams extends Error {
  readonly code = INVALID_PARAMS;
}

/** There is no such resource. Each era has a code of its own for it. */
export class UnknownResource extends Error {
  readonly uri: string;

  constructor(uri: string) {
    super(`Resource not found: ${uri}`);
    this.uri = uri;
  }
}
