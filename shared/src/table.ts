import { z } from "zod";

/** An object by any keys, `__proto__` too, which `z.record` drops: a file, a server or a tool may be named that. */
export function tableOf<Value extends z.ZodType>(value: Value) {
  return z
    .preprocess(
      (raw) => (typeof raw === "object" && raw !== null && !Array.isArray(raw) ? new Map(Object.entries(raw)) : raw),
      z.map(z.string(), value, "expected a table"),
    )
    .transform((entries) => Object.fromEntries(entries));
}
