import { expect, test } from "vitest";
import { otlpRequest } from "./otlp.ts";
import type { Span } from "./span.ts";

const span: Span = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  parentId: null,
  name: "POST /mcp",
  kind: "server",
  startMs: 1_772_355_600_123.456,
  endMs: 1_772_355_600_125,
  attributes: { "http.route": "/mcp", "http.response.status_code": 200, cached: true },
  isError: false,
};

test("a batch is one request of OTLP in JSON: ids in hex, times in nanoseconds and integers as texts", () => {
  const failed: Span = { ...span, parentId: "00f067aa0ba902b7", kind: "client", name: "tools/call x", attributes: {}, isError: true };
  const shared = {
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: "b7ad6b7169203331",
    startTimeUnixNano: "1772355600123456055",
    endTimeUnixNano: "1772355600125000000",
  };
  expect(JSON.parse(otlpRequest([span, failed], "shop"))).toEqual({
    resourceSpans: [
      {
        resource: {
          attributes: [
            { key: "service.name", value: { stringValue: "shop" } },
            { key: "service.version", value: { stringValue: "0.1.0" } },
          ],
        },
        scopeSpans: [
          {
            scope: { name: "agent-env-gateway", version: "0.1.0" },
            spans: [
              {
                ...shared,
                name: "POST /mcp",
                kind: 2,
                attributes: [
                  { key: "http.route", value: { stringValue: "/mcp" } },
                  { key: "http.response.status_code", value: { intValue: "200" } },
                  { key: "cached", value: { boolValue: true } },
                ],
              },
              { ...shared, parentSpanId: "00f067aa0ba902b7", name: "tools/call x", kind: 3, attributes: [], status: { code: 2 } },
            ],
          },
        ],
      },
    ],
  });
});
