import { chromium } from "./chromium.ts";
import { engine } from "./engine.ts";
import { images } from "./images.ts";
import type { Machine } from "./machine.ts";
import { installPackages } from "./packages.ts";
import type { Found, Part, Say, Tier } from "./part.ts";
import { benchPeers, devServers, peers } from "./peers.ts";
import { nginx, postgres, registry, wrk } from "./programs.ts";
import { python } from "./python.ts";

/** All parts, each after those it needs. */
export const PARTS: readonly Part[] = [engine, images, registry, postgres, chromium, python, peers];

/** What no test needs: only a bench that compares with programs of others. */
export const BENCH_PARTS: readonly Part[] = [wrk, nginx, benchPeers];

/** What only the long forms of tests need. */
export const LONG_PARTS: readonly Part[] = [devServers];

/** The parts that any of these tiers needs or makes use of. */
export function partsFor(tiers: readonly Tier[]): Part[] {
  return PARTS.filter((part) => [...part.tiers, ...(part.helps ?? [])].some((tier) => tiers.includes(tier)));
}

/** Looks at each part. Changes nothing. */
export async function lookAt(parts: readonly Part[], machine: Machine): Promise<Map<Part, Found>> {
  const found = new Map<Part, Found>();
  for (const part of parts) found.set(part, await part.look(machine));
  return found;
}

/**
 * Makes ready what can be, side by side where one doesn't wait for another, and gives how each part stands afterwards. A part
 * that can't be mended is `missing`, with the reason.
 */
export async function mendParts(plan: ReadonlyMap<Part, Found>, machine: Machine, say: Say): Promise<Map<Part, Found>> {
  const packages = packagesOf(plan);
  if (packages.length > 0) await install(packages, say);
  const endings = new Map<Part, Promise<Found>>();
  for (const [part, found] of plan) {
    const before = part.after.map((other) => endings.get(other));
    endings.set(
      part,
      Promise.all(before).then(() => (found.state === "mendable" ? mended(part, machine, say) : found)),
    );
  }
  return new Map(await Promise.all([...endings].map(async ([part, ending]) => [part, await ending] as const)));
}

/** The Debian packages of all parts of a plan, each once. */
export function packagesOf(plan: ReadonlyMap<Part, Found>): string[] {
  return [...new Set([...plan.values()].flatMap((found) => (found.state === "mendable" ? found.packages : [])))];
}

/** A failure shows once more in each part that lacks what wasn't installed. */
async function install(packages: readonly string[], say: Say): Promise<void> {
  try {
    await installPackages(packages, (line) => say(`packages: ${line}`));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    say(`packages: ${error.message}`);
  }
}

async function mended(part: Part, machine: Machine, say: Say): Promise<Found> {
  try {
    await part.mend(machine, (line) => say(`${part.name}: ${line}`));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { state: "missing", why: error.message, next: "mend that, then npm run setup again" };
  }
  const found = await part.look(machine);
  return found.state === "mendable" ? { state: "missing", why: `still ${found.detail}`, next: "npm run setup again" } : found;
}
