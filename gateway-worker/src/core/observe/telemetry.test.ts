import { describe, expect, test } from "vitest";
import { telemetryFrom } from "./telemetry.ts";

const from = (variables: Record<string, string>) => telemetryFrom((name) => variables[name] ?? "");
const ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT";

describe("where spans go", () => {
  test("nowhere, unless an endpoint is named", () => {
    expect(from({ OTEL_SERVICE_NAME: "x", OTEL_EXPORTER_OTLP_HEADERS: "a=b" })).toBe(null);
  });

  test.each([
    [{ [ENDPOINT]: "http://collector:4318" }, "http://collector:4318/v1/traces"],
    [{ [ENDPOINT]: "https://otel.example/in//" }, "https://otel.example/in/v1/traces"],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://otel.example/spans", [ENDPOINT]: "http://x" }, "https://otel.example/spans"],
  ])("%j: to %s", (variables, url) => {
    expect(from(variables)).toEqual({ url, headers: [], service: "agent-env-gateway" });
  });

  test("with the headers and the name that are set", () => {
    const set = {
      [ENDPOINT]: "http://c",
      OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Bearer%20a%3Db, x-tenant = 7,",
      OTEL_SERVICE_NAME: "shop",
    };
    expect(from(set)).toEqual({
      url: "http://c/v1/traces",
      headers: [
        ["authorization", "Bearer a=b"],
        ["x-tenant", "7"],
      ],
      service: "shop",
    });
  });

  test.each([
    [
      { [ENDPOINT]: "collector:4318" },
      `${ENDPOINT}: "collector:4318"`,
      "it is no address of http or https, or has a user in it",
      "write one like http://collector:4318; credentials go into OTEL_EXPORTER_OTLP_HEADERS",
    ],
    [
      { [ENDPOINT]: "http://me:secret@collector" },
      `${ENDPOINT}: "…@collector"`,
      "it is no address of http or https, or has a user in it",
      "write one like http://collector:4318; credentials go into OTEL_EXPORTER_OTLP_HEADERS",
    ],
    [
      { [ENDPOINT]: "http://c", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
      'OTEL_EXPORTER_OTLP_PROTOCOL: "grpc"',
      "the gateway speaks OTLP over HTTP in JSON alone",
      "leave it out, or set it to http/json",
    ],
    [
      { [ENDPOINT]: "http://c", OTEL_EXPORTER_OTLP_HEADERS: "x-key=%zz-secret" },
      "OTEL_EXPORTER_OTLP_HEADERS",
      '"x-key": it is no name=value with a percent-encoded value',
      "write pairs like authorization=Bearer%20…, with commas between",
    ],
    [
      { [ENDPOINT]: "http://c", OTEL_EXPORTER_OTLP_HEADERS: "secret" },
      "OTEL_EXPORTER_OTLP_HEADERS",
      '"": it is no name=value with a percent-encoded value',
      "write pairs like authorization=Bearer%20…, with commas between",
    ],
    [
      { [ENDPOINT]: "http://c", OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%0d%0ax-more: b" },
      "OTEL_EXPORTER_OTLP_HEADERS",
      '"x-key": it is no name=value with a percent-encoded value',
      "write pairs like authorization=Bearer%20…, with commas between",
    ],
  ])("%j is refused", (variables, message, why, next) => {
    expect(() => from(variables)).toThrow(expect.objectContaining({ message, why, next }));
  });
});
