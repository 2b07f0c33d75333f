export type { Answers } from "./answers.ts";
export { type TestKit, testKit } from "./kit.ts";
export { type McpAnswer, McpRequestFailed } from "./mcp-client.ts";
export type { Called } from "./wire.ts";
