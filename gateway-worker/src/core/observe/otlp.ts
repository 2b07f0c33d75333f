import type { AttributeValue, Span } from "./span.ts";

/** `SpanKind` of OTLP. */
const KINDS = { server: 2, client: 3 } as const;
const ERROR_STATUS = 2;
const SCOPE = { name: "agent-env-gateway", version: "0.1.0" };

type KeyValue = { readonly key: string; readonly value: Readonly<Record<string, unknown>> };

/**
 * Spans as the body of an OTLP/HTTP request in JSON (OTLP 1.5, `ExportTraceServiceRequest`): ids in hex, 64-bit integers as texts.
 * Written here since a library for it weighs more than the gateway's core, and brings a context manager and timers of its own.
 */
export function otlpRequest(spans: readonly Span[], service: string): string {
  const resource = { attributes: [keyValue("service.name", service), keyValue("service.version", SCOPE.version)] };
  return JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope: SCOPE, spans: spans.map(otlpSpan) }] }] });
}

function otlpSpan({ traceId, spanId, parentId, name, kind, startMs, endMs, attributes, isError }: Span): object {
  return {
    traceId,
    spanId,
    ...(parentId === null ? {} : { parentSpanId: parentId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanos(startMs),
    endTimeUnixNano: nanos(endMs),
    attributes: Object.entries(attributes).map(([key, value]) => keyValue(key, value)),
    ...(isError ? { status: { code: ERROR_STATUS } } : {}),
  };
}

function keyValue(key: string, value: AttributeValue): KeyValue {
  if (typeof value === "string") return { key, value: { stringValue: value } };
  if (typeof value === "boolean") return { key, value: { boolValue: value } };
  return { key, value: { intValue: String(Math.trunc(value)) } };
}

/** A number has no room for nanoseconds since 1970. */
function nanos(ms: number): string {
  const whole = Math.floor(ms);
  return String(BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1_000_000)));
}
