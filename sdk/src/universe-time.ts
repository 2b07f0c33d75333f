import { parseInstant } from "@agent-env/protocol";

/** The moment that a universe time names, to the millisecond; undefined if it isn't one (3-wire §clock). */
export function parseUniverseTime(text: string): Date | undefined {
  const instant = parseInstant(text);
  return typeof instant === "bigint" ? new Date(Number(instant / 1000n)) : undefined;
}
