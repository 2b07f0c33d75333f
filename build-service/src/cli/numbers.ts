import { InvalidArgumentError } from "commander";

/** Reads an option's number; commander says which option it was when it is out of range. */
export function numberIn(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (text.trim() === "" || !Number.isFinite(number) || number < least || number > most) {
      throw new InvalidArgumentError(`It takes a number from ${least} to ${most}.`);
    }
    return number;
  };
}

/** Reads an option that counts something. */
export function wholeNumberIn(least: number, most: number): (text: string) => number {
  const inRange = numberIn(least, most);
  return (text) => {
    const number = inRange(text);
    if (!Number.isInteger(number)) throw new InvalidArgumentError(`It takes a whole number from ${least} to ${most}.`);
    return number;
  };
}
