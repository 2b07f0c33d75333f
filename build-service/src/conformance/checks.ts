import { CARD_CHECKS } from "./card-checks.ts";
import type { Check } from "./check.ts";
import { CLOCK_CHECKS } from "./clock-checks.ts";
import { DATA_CHECKS } from "./data-checks.ts";
import { DATA_CONTENT_CHECKS } from "./data-content-checks.ts";
import { MCP_CHECKS } from "./mcp-checks.ts";
import { RESERVED_CHECKS } from "./reserved-checks.ts";
import { ROLE_CHECKS } from "./role-checks.ts";
import { SESSION_CHECKS } from "./session-checks.ts";
import { WEBSITE_CHECKS } from "./website-checks.ts";

/** Every check of something whose card could be read, in the order in which they are made. */
export const CHECKS: readonly Check[] = [
  ...CARD_CHECKS,
  ...DATA_CHECKS,
  ...DATA_CONTENT_CHECKS,
  ...MCP_CHECKS,
  ...WEBSITE_CHECKS,
  ...ROLE_CHECKS,
  ...CLOCK_CHECKS,
  ...SESSION_CHECKS,
  ...RESERVED_CHECKS,
];
