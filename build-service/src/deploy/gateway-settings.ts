/** Named like settings, but laid down by the deployment, or by what the gateway runs in. */
const NOT_THE_OPERATORS: readonly string[] = [
  "GATEWAY_NETWORK",
  "GATEWAY_PROBES",
  "GATEWAY_RECORD",
  "GATEWAY_RESTARTS_ITSELF",
  "GATEWAY_STATE_FILE",
];

/**
 * What an operator's environment says to the gateways that are started for deployments: its `GATEWAY_…` and `OTEL_…` variables.
 * Which of them there are, and what they may hold, the gateway itself knows: what it refuses ends its start, with the reason.
 */
export function gatewaySettings(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      /^(GATEWAY|OTEL)_/.test(name) && !NOT_THE_OPERATORS.includes(name) && value !== undefined ? [[name, value]] : [],
    ),
  );
}
