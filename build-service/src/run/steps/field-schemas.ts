import { z } from "zod";

/** A name or an id: any text but the empty one. */
export const Name = z.string().min(1);
/** The version that a reference is pinned at. */
export const Version = z.int().positive().nullish();
/** Environment variables. */
export const Variables = z.record(z.string(), z.string());
export const Seconds = z.number().positive();

export const Aggregator = z.enum(["all_pass", "any_pass", "weighted_average"]);

/** What a verifier's result is kept under, and how its rows become a score (5-run §8.4). */
export const Verifier = { verifier_id: Name.nullish(), score_aggregator: Aggregator.default("all_pass") };

/** The machine that an agent or a sandbox gets; ranges are the provider's, so preflight judges them. */
export const Machine = {
  cpu: z.number().default(1),
  memory_mb: z.number().default(8192),
  ttl_seconds: z.int().default(7200),
  sandbox_type: Name.nullish(),
  network_policy: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
};

/** Which of `fields` are set, for steps that take one of several. */
export function chosen(fields: Readonly<Record<string, unknown>>, names: readonly string[]): string[] {
  return names.filter((name) => fields[name] !== undefined && fields[name] !== null);
}

/** What to say when not exactly one of `names` is set; `what` is what they name. */
export function oneOf(fields: Readonly<Record<string, unknown>>, names: readonly string[], what: string): string[] {
  const set = chosen(fields, names);
  const choice = names.length === 2 ? names.join(" or ") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
  if (set.length === 1) return [];
  return set.length === 0 ? [`names no ${what}: set ${choice}`] : [`${set.join(" and ")} exclude each other: keep one`];
}
