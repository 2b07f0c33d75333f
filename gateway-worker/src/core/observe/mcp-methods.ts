/** What clients ask of the gateway, and the gateway of servers, in both eras. */
const METHODS: readonly unknown[] = [
  "initialize",
  "ping",
  "server/discover",
  "tools/list",
  "tools/call",
  "prompts/list",
  "prompts/get",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "resources/subscribe",
  "resources/unsubscribe",
  "subscriptions/listen",
  "completion/complete",
  "logging/setLevel",
  "tasks/get",
  "tasks/list",
  "tasks/result",
  "tasks/update",
  "tasks/cancel",
  "notifications/initialized",
  "notifications/cancelled",
  "notifications/progress",
  "notifications/roots/list_changed",
];

/** A method as spans may have it: what clients make up counts as one. Null for a message that has none. */
export function knownMcpMethod(method: unknown): string | null {
  if (typeof method !== "string") return null;
  return METHODS.includes(method) ? method : "_OTHER";
}
