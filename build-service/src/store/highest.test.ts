import { describe, expect, test } from "vitest";
import { highest } from "./highest.ts";

/** Numbers up to `last` are there. Gives what was found, and how many questions it took. */
async function look(last: number, hint: number): Promise<{ found: number; questions: number }> {
  let questions = 0;
  const found = await highest(hint, async (number) => {
    questions++;
    return number >= 1 && number <= last;
  });
  return { found, questions };
}

describe("the highest number without listing all", () => {
  test("is found from every hint, below, at and above it", async () => {
    for (let last = 0; last <= 20; last++) {
      for (let hint = 0; hint <= 24; hint++) expect({ last, hint, ...(await look(last, hint)) }).toMatchObject({ last, hint, found: last });
    }
  });

  test.each([1, 100, 10_000])("takes two questions with a right hint, whether there are %i", async (last) => {
    expect(await look(last, last)).toEqual({ found: last, questions: 2 });
  });

  test("takes two questions where nothing is", async () => {
    expect((await look(0, 0)).questions).toBeLessThanOrEqual(2);
  });

  test("takes few questions with a hint that is 10,000 behind, or ahead of all that is left", async () => {
    expect((await look(10_000, 0)).questions).toBeLessThanOrEqual(30);
    expect((await look(3, 10_000)).questions).toBeLessThanOrEqual(16);
  });
});
