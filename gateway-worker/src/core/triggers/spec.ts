import { DEFAULT_ROLE, type JsonObject, WILDCARD } from "@agent-env/protocol";
import { z } from "zod";
import { Hours } from "./hours.ts";
import { parsePath } from "./paths.ts";
import { Predicate } from "./predicate.ts";
import { templateFault } from "./template.ts";
import { parseDuration, parseMark } from "./times.ts";

const Name = z.string().min(1, "must not be empty");
const Roles = z.array(Name).optional();
const PathText = z.string().refine((text) => parsePath(text) !== null, "is no path");
const Where = z.record(PathText, Predicate).optional();
const Duration = z.string().refine((text) => (parseDuration(text) ?? 0n) > 0n, "must be a positive ISO 8601 duration");
const Offset = z.string().refine((text) => parseDuration(text) !== null, "must be an ISO 8601 duration");
const MarkText = z.string().refine((text) => parseMark(text) !== null, "is neither a time nor an ISO 8601 duration");
const Spread = z.union(
  [Duration, z.looseObject({ dist: z.literal("exp"), mean: Duration, seed: z.int() })],
  "must be a positive duration, or {dist: exp, mean, seed}",
);
const Args = z.record(z.string(), z.unknown());

const Extract = z.union([
  PathText,
  z.looseObject({ path: PathText, match: z.record(PathText, Predicate).optional(), take: PathText.optional() }),
]);
const CheckStep = z.looseObject({
  tool: Name,
  args: Args.optional(),
  extract: Extract.optional(),
  bind: Name.optional(),
  predicate: Predicate.optional(),
});
/** Tool calls that end in a question. A single step may stand for the list of it. */
export const Check = z
  .union([z.looseObject({ steps: z.array(CheckStep).min(1) }), CheckStep], "must be a step with a tool, or a list of steps")
  .superRefine((check, context) => {
    const steps = stepsOf(check);
    if (steps.at(-1)?.predicate === undefined) context.addIssue({ code: "custom", message: "its last step needs a predicate" });
  });
export type Check = z.infer<typeof Check>;
export type CheckStep = z.infer<typeof CheckStep>;

const Action = z.looseObject({ type: z.literal("action"), tool: Name, where: Where, repeat: z.boolean().optional(), roles: Roles });
const Website = z
  .looseObject({
    type: z.literal("website"),
    app: Name,
    method: z
      .string()
      .transform((method) => method.toUpperCase())
      .optional(),
    path: Predicate.optional(),
    status: Predicate.optional(),
    where: Where,
    repeat: z.boolean().optional(),
    roles: Roles,
  })
  .superRefine(({ where = {} }, context) => {
    for (const key of Object.keys(where))
      if (/^result(\.|\[|$)/.test(key))
        context.addIssue({ code: "custom", path: ["where", key], message: "reads a result; a website's request has arguments alone" });
  });
const State = z.looseObject({ type: z.literal("state"), check: Check, roles: Roles });
const Time = z
  .looseObject({
    type: z.literal("time"),
    at: MarkText.optional(),
    after: Name.optional(),
    offset: Offset.optional(),
    every: Spread.optional(),
    until: MarkText.optional(),
    count: z.int().positive().optional(),
    unless: z.looseObject({ tool: Name, where: Where, roles: Roles }).optional(),
  })
  .superRefine(({ at, after, offset, every, until, count, unless }, context) => {
    const problem = (message: string) => context.addIssue({ code: "custom", message });
    if ((after === undefined) !== (offset === undefined)) problem("after and offset go together");
    if (at !== undefined && after !== undefined) problem("has both at and after");
    if (at === undefined && after === undefined && every === undefined) problem("needs at, after with offset, or every");
    if (every === undefined && (until !== undefined || count !== undefined)) problem("until and count need every");
    if (every !== undefined && unless !== undefined) problem("unless doesn't go with every");
  });
/** What a trigger waits for. */
export const When = z.discriminatedUnion("type", [Action, Website, State, Time], "type must be action, website, state or time");
export type When = z.infer<typeof When>;

const shared = { verify: Check.optional(), delay: Spread.optional() };
const ToolAction = z.looseObject({
  type: z.literal("tool"),
  tool: Name,
  args: Args.optional(),
  as: Name.refine((role) => role !== DEFAULT_ROLE && !role.includes("${"), "must be a literal role other than default").optional(),
  ...shared,
});
const PermissionAction = z.looseObject({
  type: z.literal("permission"),
  action: z.enum(["enable", "disable"]),
  role: Name,
  tools: z.union([z.array(z.string()), z.literal(WILDCARD)]),
  ...shared,
});
const NlAction = z.looseObject({
  type: z.literal("nl"),
  instruction: Name.refine((text) => !/\$\{(args|result)\./.test(text), "is never templated"),
  executor: Name.optional(),
  ...shared,
});
/** What a trigger does. */
export const TriggerAction = z.discriminatedUnion("type", [ToolAction, PermissionAction, NlAction], "type must be tool, permission or nl");
export type TriggerAction = z.infer<typeof TriggerAction>;

/** A trigger as it is registered. Unknown keys stay. */
export const TriggerSpec = z
  .looseObject({
    when: When,
    actions: z.array(TriggerAction),
    barrier: z.looseObject({ at: z.literal("provoking_call"), timeout_seconds: z.number().positive().optional() }).nullish(),
  })
  .superRefine(({ when, actions, barrier }, context) => {
    const roots = when.type === "action" ? ["args", "result"] : when.type === "website" ? ["args"] : [];
    for (const [at, action] of actions.entries()) {
      const fault = action.type === "tool" ? templateFault(action.args, roots) : null;
      if (fault !== null) context.addIssue({ code: "custom", path: ["actions", at, "args"], message: fault });
    }
    const problem = (message: string) => context.addIssue({ code: "custom", path: ["barrier"], message });
    if (barrier === undefined || barrier === null) return;
    if (when.type !== "action" && when.type !== "website") problem("only action and website triggers can hold back an answer");
    if (actions.some(({ delay }) => delay !== undefined)) problem("doesn't go with a delay");
  });
export type TriggerSpec = z.infer<typeof TriggerSpec>;

/** An agent that acts in words. */
export const Executor = z.looseObject({
  a2a_url: z.url({ protocol: /^https?$/ }),
  role: Name.refine((role) => role !== DEFAULT_ROLE, "must not be default"),
  timeout_seconds: z.number().positive().default(120),
  hours: Hours.optional(),
});
export type Executor = z.infer<typeof Executor>;

/** The steps of a check. */
export function stepsOf(check: Check): readonly CheckStep[] {
  return "steps" in check && Array.isArray(check.steps) ? check.steps : [CheckStep.parse(check)];
}

/** Every tool that a trigger names, each with where. */
export function toolsOf({ when, actions }: TriggerSpec): { readonly tool: string; readonly at: string }[] {
  const ofCheck = (check: Check | undefined, at: string) =>
    check === undefined ? [] : stepsOf(check).map(({ tool }, n) => ({ tool, at: `${at}.steps[${n}].tool` }));
  const ofWhen =
    when.type === "action"
      ? [{ tool: when.tool, at: "when.tool" }]
      : when.type === "state"
        ? ofCheck(when.check, "when.check")
        : when.type === "time" && when.unless !== undefined
          ? [{ tool: when.unless.tool, at: "when.unless.tool" }]
          : [];
  const ofActions = actions.flatMap((action, n) => [
    ...(action.type === "tool" ? [{ tool: action.tool, at: `actions[${n}].tool` }] : []),
    ...ofCheck(action.verify, `actions[${n}].verify`),
  ]);
  return [...ofWhen, ...ofActions];
}

/** What of a trigger's condition its state shows: the schedule, not what it looks for. */
export function shownWhen({ where, check, unless, ...shown }: JsonObject): JsonObject {
  return shown;
}
