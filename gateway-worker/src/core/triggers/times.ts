import { type Instant, parseInstant } from "@agent-env/protocol";

const SHAPE = /^P(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;
const SECONDS = [604_800, 86_400, 3_600, 60, 1];

/** The microseconds of an ISO 8601 duration in weeks to seconds; null for anything else. */
export function parseDuration(text: string): bigint | null {
  const match = SHAPE.exec(text);
  if (match === null || /[PT]$/.test(text)) return null;
  const seconds = match.slice(1).map((digits, at) => Number(digits ?? 0) * (SECONDS[at] ?? 0));
  return BigInt(Math.round(seconds.reduce((sum, each) => sum + each, 0) * 1_000_000));
}

/** A time as a trigger names it: an instant, or so long after the clock's start. */
export type Mark = { readonly at: Instant } | { readonly afterStart: bigint };

/** The mark in a text; null where it holds none. */
export function parseMark(text: string): Mark | null {
  const instant = parseInstant(text);
  if (typeof instant === "bigint") return { at: instant };
  const afterStart = parseDuration(text);
  return afterStart === null ? null : { afterStart };
}

/** A length of time: always the same, or drawn anew each time with a mean, the same for the same seed. */
export type Spread = string | { readonly dist: "exp"; readonly mean: string; readonly seed: number };

/** The `n`th length of a spread, in microseconds and above 0. Throws for what no duration is. */
export function nthLength(spread: Spread, n: number): bigint {
  const length = parseDuration(typeof spread === "string" ? spread : spread.mean);
  if (length === null) throw new Error(`${JSON.stringify(spread)} is no duration`);
  if (typeof spread === "string") return length;
  const drawn = BigInt(Math.round(Number(length) * -Math.log(1 - randomAt(spread.seed, n))));
  return drawn < 1n ? 1n : drawn;
}

/** The `n`th of the numbers from 0 to 1 that belong to a seed (splitmix32). */
function randomAt(seed: number, n: number): number {
  let mixed = (seed + Math.imul(n + 1, 0x9e3779b9)) | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 4_294_967_296;
}
