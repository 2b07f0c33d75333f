import { z } from "zod";
import { AuthorError } from "./author-error.ts";

/**
 * Throws an `AuthorError` for what an author without types can write wrongly: a shape that holds no zod schemas, and a handler
 * that takes more than its arguments and one context. `what` names the place.
 */
export function checkHandler(what: string, { input, run }: { readonly input?: unknown; readonly run: unknown }): void {
  checkShape(what, input);
  if (typeof run !== "function") {
    throw new AuthorError({
      what: `${what} has no handler`,
      why: `run is ${run === null ? "null" : typeof run}, and must be a function`,
      next: "write run: (args, context) => …",
    });
  }
  if (run.length > 2) {
    throw new AuthorError({
      what: `${what} has a handler that takes ${run.length} parameters`,
      why: "a handler gets its arguments, and one context",
      next: "write run: (args, context) => …, and take what else it needs from toolContext()",
    });
  }
}

function checkShape(what: string, input: unknown): void {
  if (input === undefined) return;
  if (typeof input !== "object" || input === null || input instanceof z.ZodType) {
    throw new AuthorError({
      what: `${what} has an input that is no shape`,
      why: "the input names each argument with its own schema",
      next: "write input: { title: z.string() }, without z.object around it",
    });
  }
  const stray = Object.entries(input).filter(([, schema]) => !(schema instanceof z.ZodType));
  if (stray.length === 0) return;
  throw new AuthorError({
    what: `${what} has ${stray.map(([name]) => JSON.stringify(name)).join(" and ")} without a schema`,
    why: "each argument of the input has a zod schema, made with the z of this SDK",
    next: 'import { z } from "@agent-env/sdk", and write for example { title: z.string() }',
  });
}
