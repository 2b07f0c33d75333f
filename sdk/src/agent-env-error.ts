/** Whether what was asked for took effect: `no` lets a caller try again. */
export type Applied = "yes" | "no" | "unknown";

/** The five fields of an error that a caller can act on (3-wire §ext). */
export type ErrorFields = {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly applied: Applied;
  readonly hint?: string;
};

/**
 * A failure with a code, thrown by a tool or an extension. A tool answers `isError` with `<code>: <message>` and the five
 * fields as structured content; an extension answers `status` with the fields as its body.
 */
export class AgentEnvError extends Error {
  readonly fields: ErrorFields;
  readonly status: number;

  constructor(code: string, message: string, options: { retryable?: boolean; applied?: Applied; hint?: string; status?: number } = {}) {
    super(message);
    this.name = "AgentEnvError";
    const { retryable = false, applied = "no", hint, status = 400 } = options;
    this.fields = { code, message, retryable, applied, ...(hint === undefined ? {} : { hint }) };
    this.status = status;
  }
}

/** `<code>: <message>`, as clients that read no fields are told. */
export function codedText({ fields, message }: AgentEnvError): string {
  return `${fields.code}: ${message}`;
}

/** The text of whatever was thrown. */
export function thrownText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
