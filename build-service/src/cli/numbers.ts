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
