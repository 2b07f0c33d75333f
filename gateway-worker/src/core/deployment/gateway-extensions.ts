import type { JsonObject } from "@agent-env/protocol";

/** An extension that the gateway itself serves. */
export type GatewayExtension = {
  readonly uri: string;
  readonly description: string;
  readonly params: {
    readonly endpoint: string;
    /** What of the extension is served, for clients that ask before they use it. */
    readonly features?: readonly string[];
    readonly methods: Readonly<Record<string, { method: string; endpoint?: string; request?: JsonObject }>>;
  };
};

const TOOLS_RULE: JsonObject = {
  type: "object",
  properties: { role: { type: "string" }, tools: { anyOf: [{ type: "array", items: { type: "string" } }, { const: "*" }] } },
  required: ["role", "tools"],
};
const SET_TIME: JsonObject = {
  type: "object",
  properties: { virtual_time: { type: "string" }, virtual_seconds_per_real_second: { type: "number" } },
  required: ["virtual_time"],
};
const STEP: JsonObject = {
  type: "object",
  properties: {
    action: { type: "string", enum: ["list_tools", "call_tool"] },
    tool_name: { type: "string", minLength: 1 },
    arguments: { type: "object" },
  },
  required: ["action"],
  if: { properties: { action: { const: "call_tool" } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ["tool_name"] },
};

const REGISTER: JsonObject = {
  type: "object",
  properties: {
    watch_roles: { type: "array", items: { type: "string" } },
    executor: { type: "object" },
    executors: { type: "object" },
    triggers: { type: "array" },
  },
  required: ["triggers"],
};
const REMOVE: JsonObject = { type: "object", properties: { ids: { type: "array", items: { type: "string" } } }, required: ["ids"] };
const CHANGES: JsonObject = {
  type: "object",
  properties: { after_id: { type: "integer", minimum: 0 }, limit: { type: "integer", minimum: 1, maximum: 10_000 } },
};

/** The gateway's own extensions, in the order of 3-wire §composed: those whose routes it serves. */
export const GATEWAY_EXTENSIONS: readonly GatewayExtension[] = [
  {
    uri: "urn:agentenv:disable-tool/v1",
    description: "Disable tools for a role.",
    params: { endpoint: "/tools/disable", methods: { disable: { method: "POST", request: TOOLS_RULE } } },
  },
  {
    uri: "urn:agentenv:enable-tool/v1",
    description: "Enable tools for a role.",
    params: { endpoint: "/tools/enable", methods: { enable: { method: "POST", request: TOOLS_RULE } } },
  },
  {
    uri: "urn:agentenv:triggers/v1",
    description: "Let things happen by themselves when a tool is called, a page is used, a state is reached, or a time has come.",
    params: {
      endpoint: "/triggers/register",
      features: ["named_executors", "provoking_roles", "action_delay", "executor_hours", "unless", "website", "executor_hours_time_zone"],
      methods: {
        register: { method: "POST", endpoint: "/triggers/register", request: REGISTER },
        remove: { method: "POST", endpoint: "/triggers/remove", request: REMOVE },
        clear: { method: "POST", endpoint: "/triggers/clear" },
        state: { method: "GET", endpoint: "/triggers/state" },
      },
    },
  },
  {
    uri: "urn:agentenv:clock/v1",
    description: "The universe's clock: arm it, read it, clear it.",
    params: {
      endpoint: "/clock/time",
      methods: {
        get_time: { method: "GET", endpoint: "/clock/time" },
        set_time: { method: "PUT", endpoint: "/clock/set-time", request: SET_TIME },
        clear: { method: "POST", endpoint: "/clock/clear" },
        state: { method: "GET", endpoint: "/clock/state" },
      },
    },
  },
  {
    uri: "urn:agentenv:trajectory/v1",
    description: "What has happened, one event a line.",
    params: { endpoint: "/trajectory", methods: { get: { method: "GET", endpoint: "/trajectory" } } },
  },
  {
    uri: "urn:agentenv:step/v1",
    description: "List and call tools without MCP.",
    params: { endpoint: "/step", methods: { step: { method: "POST", endpoint: "/step", request: STEP } } },
  },
  {
    uri: "urn:agentenv:state/v1",
    description: "All servers with their tools, the roles' rules, and what is wrong.",
    params: { endpoint: "/state", methods: { get: { method: "GET", endpoint: "/state" } } },
  },
  {
    uri: "urn:agentenv:changes/v1",
    description: "What was changed in the database, each row with who changed it.",
    params: { endpoint: "/changes", methods: { get: { method: "GET", endpoint: "/changes", request: CHANGES } } },
  },
];
