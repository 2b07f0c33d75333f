/**
 * A pattern over whole texts as a machine whose state is a set of places in it: matching costs at most a step per character and
 * instruction, however the pattern is written. A place is an index; behind the last instruction the text has matched.
 */
export type Instruction =
  | { readonly does: "take"; readonly accepts: (character: string) => boolean; readonly next: number }
  | { readonly does: "branch"; readonly next: readonly number[] }
  /** Takes nothing; holds between two characters, `""` outside the text. */
  | { readonly does: "assert"; readonly holds: (before: string, after: string) => boolean; readonly next: number };

/** Whether all of `text` matches; character by character, by code point. */
export function matchesWhole(instructions: readonly Instruction[], text: string): boolean {
  let places: Iterable<number> = [0];
  let before = "";
  for (const character of text) {
    const taken = new Set<number>();
    for (const place of reached(instructions, places, before, character)) {
      const instruction = instructions[place];
      if (instruction?.does === "take" && instruction.accepts(character)) taken.add(instruction.next);
    }
    if (taken.size === 0) return false;
    places = taken;
    before = character;
  }
  return reached(instructions, places, before, "").has(instructions.length);
}

/** The places that can be come to from those without taking a character, themselves included. */
function reached(instructions: readonly Instruction[], places: Iterable<number>, before: string, after: string): Set<number> {
  const all = new Set(places);
  for (const place of all) {
    const instruction = instructions[place];
    if (instruction?.does === "branch") for (const next of instruction.next) all.add(next);
    if (instruction?.does === "assert" && instruction.holds(before, after)) all.add(instruction.next);
  }
  return all;
}
