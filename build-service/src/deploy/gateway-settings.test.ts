import { expect, test } from "vitest";
import { gatewaySettings } from "./gateway-settings.ts";

test("G9 of the operator's environment a gateway is told its own settings and OpenTelemetry's, and nothing that a deployment lays down", () => {
  const settings = {
    GATEWAY_INTERNAL_SERVER_TIMEOUT_S: "20",
    GATEWAY_ALLOWED_ORIGINS: "",
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
  };
  const laidDown = {
    GATEWAY_RECORD: "{}",
    GATEWAY_STATE_FILE: "/tmp/state",
    GATEWAY_NETWORK: "own",
    GATEWAY_PROBES: "[]",
    GATEWAY_RESTARTS_ITSELF: "1",
  };
  const others = { PATH: "/bin", MCP_PORT: "1", gateway_max_hops: "1", MY_GATEWAY_MAX_HOPS: "1", GATEWAY_MAX_HOPS: undefined };
  expect(gatewaySettings({ ...settings, ...laidDown, ...others })).toEqual(settings);
});
