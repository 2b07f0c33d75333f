import type { Found, Part, Tier } from "../setup/part.ts";

/** How one line of the summary ended: a part of the check, or a tier of tests. */
export type Outcome = {
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: readonly string[];
  readonly seconds: number;
  /** What a reader has to know beyond the numbers: why a tier didn't run, what broke apart from single tests. */
  readonly note: string | null;
};

export type Totals = { readonly passed: number; readonly failed: number; readonly skipped: number };

/** Marks a skipped test as one of a service that needs an account: `(needs an account: Modal)`. */
const NEEDS_ACCOUNT = /\(needs an account: [^)]+\)/;

/** Why a tier can't run here, or null: the first part it needs that isn't ready. */
export function reasonToSkip(tier: Tier, found: ReadonlyMap<Part, Found>): string | null {
  for (const [part, { state, ...rest }] of found) {
    if (part.tiers.includes(tier) && state !== "ready") return `${part.name}: ${"why" in rest ? rest.why : rest.detail}`;
  }
  return null;
}

/** A tier that wasn't run, counted as one. */
export function skippedTier(tier: Tier, reason: string): Outcome {
  return { name: tier, passed: 0, failed: 0, skipped: [`the whole tier ${tier}`], seconds: 0, note: `not run: ${reason}` };
}

/** In continuous integration nothing may be skipped but tests that need an account: the others count as failed. */
export function strict(outcome: Outcome): Outcome {
  const allowed = outcome.skipped.filter((name) => NEEDS_ACCOUNT.test(name));
  const refused = outcome.skipped.filter((name) => !NEEDS_ACCOUNT.test(name));
  if (refused.length === 0) return outcome;
  const note = [outcome.note, ...refused.map((name) => `skipped, which counts as failed here: ${name}`)].filter((line) => line !== null);
  return { ...outcome, skipped: allowed, failed: outcome.failed + refused.length, note: note.join("\n") };
}

/** The sum of all outcomes. */
export function totalsOf(outcomes: readonly Outcome[]): Totals {
  const sum = (count: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + count(outcome), 0);
  return { passed: sum(({ passed }) => passed), failed: sum(({ failed }) => failed), skipped: sum(({ skipped }) => skipped.length) };
}

/** The closing line, which readers of logs look for: `N passed, N failed`, and `, N skipped` where there are any. */
export function totalsLine({ passed, failed, skipped }: Totals): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}
