/** A value of a span's attribute: integers, texts, truths. Never an argument's value, and never a credential. */
export type AttributeValue = string | number | boolean;
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** One piece of work as OpenTelemetry tells of it. Times are in milliseconds since 1970, with fractions where the host has them. */
export type Span = {
  readonly traceId: string;
  readonly spanId: string;
  /** Null for one that begins its trace here. */
  readonly parentId: string | null;
  readonly name: string;
  /** `server`: a caller's request. `client`: one to a server. */
  readonly kind: "server" | "client";
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly isError: boolean;
};
