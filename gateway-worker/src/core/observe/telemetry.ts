import { UserError } from "@agent-env/protocol";
import type { Field } from "../seam.ts";

/** Where spans are sent: by OpenTelemetry's own variables (OTLP exporter specification). */
export type Telemetry = {
  readonly url: string;
  /** They may hold credentials: shown nowhere. */
  readonly headers: readonly Field[];
  /** The name under which the collector shows this gateway. */
  readonly service: string;
};

const ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT";
const TRACES_ENDPOINT = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
const HEADERS = "OTEL_EXPORTER_OTLP_HEADERS";
const PROTOCOLS = ["OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"];
const SPOKEN = "http/json";
const SERVICE = "agent-env-gateway";

/** What `OTEL_…` variables say; null where they name no endpoint. Throws a `UserError` that names the variable. */
export function telemetryFrom(textIn: (name: string) => string): Telemetry | null {
  const url = endpointIn(textIn);
  if (url === null) return null;
  for (const variable of PROTOCOLS) {
    const said = textIn(variable);
    if (said !== "" && said !== SPOKEN)
      throw refused(variable, said, "the gateway speaks OTLP over HTTP in JSON alone", `leave it out, or set it to ${SPOKEN}`);
  }
  return { url, headers: headersIn(textIn(HEADERS)), service: textIn("OTEL_SERVICE_NAME") || SERVICE };
}

/** The endpoint of traces is used as it is written; the general one is what their path is put behind. */
function endpointIn(textIn: (name: string) => string): string | null {
  for (const [variable, path] of [
    [TRACES_ENDPOINT, ""],
    [ENDPOINT, "/v1/traces"],
  ] as const) {
    const text = textIn(variable);
    if (text === "") continue;
    const url = URL.parse(text);
    const why = "it is no address of http or https, or has a user in it";
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
      // a password may stand before an @
      throw refused(variable, text.replace(/^.*@/s, "…@"), why, `write one like http://collector:4318; credentials go into ${HEADERS}`);
    return path === "" ? url.href : `${url.href.replace(/\/+$/, "")}${path}`;
  }
  return null;
}

/** `name=value` pairs, comma separated, values percent-encoded (W3C Baggage, as OpenTelemetry has it). */
function headersIn(text: string): Field[] {
  return text
    .split(",")
    .map((pair) => pair.trim())
    .filter((pair) => pair !== "")
    .map((pair): Field => {
      const at = pair.indexOf("=");
      const name = pair.slice(0, Math.max(at, 0)).trim().toLowerCase();
      const value = decoded(pair.slice(at + 1).trim());
      if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || value === null || !/^[\x20-\x7e]*$/.test(value))
        // its values are secrets
        throw new UserError({
          what: HEADERS,
          why: `${JSON.stringify(name)}: it is no name=value with a percent-encoded value`,
          next: "write pairs like authorization=Bearer%20…, with commas between",
        });
      return [name, value];
    });
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function refused(variable: string, text: string, why: string, next: string): UserError {
  return new UserError({ what: `${variable}: ${JSON.stringify(text)}`, why, next });
}
