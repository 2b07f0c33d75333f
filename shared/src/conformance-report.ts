import { z } from "zod";

/** How much a conformance check weighs: servers and clients of others depend on the required ones. */
export const CONFORMANCE_LEVELS = ["required", "recommended"] as const;
export type ConformanceLevel = (typeof CONFORMANCE_LEVELS)[number];

/** What conformance checks are about, in the order in which they are made. */
export const CONFORMANCE_GROUPS = ["card", "data plane", "mcp", "website", "roles", "clock", "session", "reserved paths"] as const;
export type ConformanceGroup = (typeof CONFORMANCE_GROUPS)[number];

const check = {
  id: z.string(),
  group: z.enum(CONFORMANCE_GROUPS),
  level: z.enum(CONFORMANCE_LEVELS),
  /** What is promised, as a statement. */
  title: z.string(),
  seconds: z.number().nonnegative(),
};

/** One check of one subject, and what came of it. */
export const ConformanceCheck = z.discriminatedUnion("outcome", [
  z.strictObject({ ...check, outcome: z.literal("passed") }),
  z.strictObject({ ...check, outcome: z.literal("skipped"), reason: z.string() }),
  z.strictObject({
    ...check,
    outcome: z.literal("failed"),
    /** The request on one line; tokens are never in it. */
    sent: z.string(),
    expected: z.string(),
    /** The answer on one line, cut where it is long. */
    got: z.string(),
    fix: z.string(),
  }),
]);
export type ConformanceCheck = z.infer<typeof ConformanceCheck>;

/** What was checked: an environment's server, one reached through a gateway, or a gateway. */
export const ConformanceSubject = z.strictObject({
  url: z.string(),
  kind: z.enum(["server", "service", "gateway"]),
  /** The name on its card, null where that can't be read. */
  name: z.string().nullable(),
  checks: z.array(ConformanceCheck),
  /** What a person has to know besides, as data that could not be put back. */
  notes: z.array(z.string()),
});
export type ConformanceSubject = z.infer<typeof ConformanceSubject>;

/** The document that `agent-env conformance --json` prints. */
export const ConformanceReport = z.strictObject({
  format_version: z.literal(1),
  url: z.string(),
  /** `required`: the recommended checks were left out. */
  level: z.enum(CONFORMANCE_LEVELS),
  read_only: z.boolean(),
  passed: z.int().nonnegative(),
  failed: z.int().nonnegative(),
  skipped: z.int().nonnegative(),
  /** Whether no required check failed. */
  conforms: z.boolean(),
  subjects: z.array(ConformanceSubject),
});
export type ConformanceReport = z.infer<typeof ConformanceReport>;
