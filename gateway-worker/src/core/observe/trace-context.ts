import type { Field } from "../seam.ts";

/** Where a span stands in its trace (W3C Trace Context). */
export type TraceContext = {
  /** 32 hex digits, not all zero. */
  readonly traceId: string;
  /** 16 hex digits, not all zero. */
  readonly spanId: string;
  /** Whether the trace's id was drawn at random: that is passed on (level 2, `random-trace-id`). */
  readonly isRandom: boolean;
};

const TRACEPARENT = "traceparent";
const TRACESTATE = "tracestate";
const RANDOM_FLAG = 0x02;
const SAMPLED_FLAG = 0x01;
const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
/** Version, trace id, parent id, flags; a later version may have more behind these. */
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The context that a request came with; null where it has none, several, or one that is no `traceparent`. */
export function contextIn(fields: readonly Field[]): TraceContext | null {
  const [said, ...more] = fields.filter(([name]) => name === TRACEPARENT).map(([, value]) => value.trim());
  const [, version, traceId = "", spanId = "", flags = "", rest] = FORM.exec(more.length === 0 ? (said ?? "") : "") ?? [];
  if (version === undefined || version === "ff" || (version === "00" && rest !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, isRandom: (Number.parseInt(flags, 16) & RANDOM_FLAG) !== 0 };
}

/** A span's place below another's; without one it begins a trace. */
export function below(parent: TraceContext | null): TraceContext {
  const spanId = randomHex(8);
  return parent === null ? { traceId: randomHex(16), spanId, isRandom: true } : { ...parent, spanId };
}

/** `fields` with that context in place of what they say. Whose `traceparent` isn't taken, its `tracestate` isn't either. */
export function withContext(fields: readonly Field[], { traceId, spanId, isRandom }: TraceContext): Field[] {
  const keepsState = contextIn(fields) !== null;
  const kept = fields.filter(([name]) => name !== TRACEPARENT && (keepsState || name !== TRACESTATE));
  const flags = (SAMPLED_FLAG | (isRandom ? RANDOM_FLAG : 0)).toString(16).padStart(2, "0");
  return [...kept, [TRACEPARENT, `00-${traceId}-${spanId}-${flags}`]];
}

function randomHex(bytes: number): string {
  let hex = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(bytes))) hex += HEX[byte];
  // all zero is no id
  return /^0+$/.test(hex) ? randomHex(bytes) : hex;
}
