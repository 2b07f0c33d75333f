import type { Machine } from "./machine.ts";

/** The groups of tests that `test:all` runs, in its order. */
export const TIERS = ["unit", "integration", "docker", "interop", "conformance", "browser", "chaos"] as const;
export type Tier = (typeof TIERS)[number];

/** What is known about one part of what the tests need. Made by looking only. */
export type Found =
  | { readonly state: "ready"; readonly detail: string }
  /** Can be made ready here. `packages` are Debian's, which are installed first, for all parts in one go. */
  | { readonly state: "mendable"; readonly detail: string; readonly packages: readonly string[] }
  | { readonly state: "missing"; readonly why: string; readonly next: string };

export type Say = (line: string) => void;

export type Part = {
  readonly name: string;
  /** The tiers that can't run without it. */
  readonly tiers: readonly Tier[];
  /** Tiers that run without it, and skip what needs it by name. */
  readonly helps?: readonly Tier[];
  /** Parts that have to be mended before this one is. */
  readonly after: readonly Part[];
  /** Changes nothing. */
  look(machine: Machine): Promise<Found>;
  /** Called only for a `mendable` part, after its packages are there. Throws with the reason when it can't be done. */
  mend(machine: Machine, say: Say): Promise<void>;
};
