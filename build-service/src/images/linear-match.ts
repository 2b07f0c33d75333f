/**
 * A pattern over whole texts as a machine whose state is a set of places in it: matching costs at most a step per character and
 * instruction, however the pattern is written. A place is an index; behind the last instruction the text has matched.
 * Characters are code points, and -1 is what lies outside the text.
 */
export type Instruction =
  | { readonly does: "take"; readonly accepts: (character: number) => boolean; readonly next: number }
  | { readonly does: "branch"; readonly next: readonly number[] }
  /** Takes nothing: holds between two characters. */
  | { readonly does: "assert"; readonly holds: (before: number, after: number) => boolean; readonly next: number };

const OUTSIDE = -1;

/** Gives a function that says whether all of a text matches. */
export function linearMatcher(instructions: readonly Instruction[]): (text: string) => boolean {
  const one = placeSet(instructions.length + 1);
  const other = placeSet(instructions.length + 1);
  return (text) => {
    let [places, taken] = [one, other];
    places.clear();
    places.add(0);
    let before = OUTSIDE;
    for (let at = 0; at < text.length; ) {
      const character = text.codePointAt(at) ?? OUTSIDE;
      taken.clear();
      addReached(instructions, places, before, character);
      for (let index = 0; index < places.size(); index++) {
        const instruction = instructions[places.at(index)];
        if (instruction?.does === "take" && instruction.accepts(character)) taken.add(instruction.next);
      }
      if (taken.size() === 0) return false;
      [places, taken] = [taken, places];
      before = character;
      at += character > 0xffff ? 2 : 1;
    }
    addReached(instructions, places, before, OUTSIDE);
    return places.has(instructions.length);
  };
}

/** Adds the places that can be come to from those in the set without taking a character. */
function addReached(instructions: readonly Instruction[], places: PlaceSet, before: number, after: number): void {
  for (let index = 0; index < places.size(); index++) {
    const instruction = instructions[places.at(index)];
    if (instruction?.does === "branch") for (const next of instruction.next) places.add(next);
    if (instruction?.does === "assert" && instruction.holds(before, after)) places.add(instruction.next);
  }
}

type PlaceSet = ReturnType<typeof placeSet>;

/** A set of places in the order of adding. It is emptied at no cost, since a matcher does that for each character. */
function placeSet(capacity: number) {
  const members = new Uint32Array(capacity);
  const addedIn = new Float64Array(capacity);
  let round = 0;
  let size = 0;
  return {
    size: () => size,
    at: (index: number) => members[index] ?? 0,
    has: (place: number) => addedIn[place] === round,
    add: (place: number) => {
      if (addedIn[place] === round) return;
      addedIn[place] = round;
      members[size++] = place;
    },
    clear: () => {
      round++;
      size = 0;
    },
  };
}
