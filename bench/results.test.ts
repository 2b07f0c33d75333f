import { expect, test } from "vitest";
import { resultsText } from "./results.ts";

const row = { bench: "plan", metric: "cold", unit: "ms" as const, ours: 900, peer: 500, value: 900, ratio: 1.8 };
const measured = { bench: "plan", about: "planning", at: "2026-01-31T12:00", machine: "2 cores", load: 0.5 };

test("the results show ours, the peer's and the original's figure, or why it has none", () => {
  const text = resultsText([
    {
      ...measured,
      rows: [
        { ...row, original: 4000 },
        { ...row, original: "it can't | here" },
        { ...row, bar: { atMost: 1.5 } },
      ],
    },
  ]);
  expect(text.split("\n").filter((line) => line.startsWith("| plan"))).toEqual([
    "| plan | cold | 900 ms | 900 ms | 500 ms | 1.8 |  | 4000 ms |",
    "| plan | cold | 900 ms | 900 ms | 500 ms | 1.8 |  | none: it can't \\| here |",
    "| plan | cold | 900 ms | 900 ms | 500 ms | 1.8 | ≤ 1.5: missed by 20 % |  |",
    "| plan | planning | 2026-01-31T12:00 UTC, load 0.5. | 2 cores |",
  ]);
});

test("figures of a busy machine say that they are to be measured again", () => {
  expect(resultsText([{ ...measured, load: 4.2, rows: [row] }])).toContain(
    "| 2026-01-31T12:00 UTC, load 4.2. **To be measured again: the machine was busy.** |",
  );
});

test("the results show what the long forms of tests have counted", () => {
  const form = { test: "kills, Node host", figure: "100 rounds", at: "2026-01-31T12:00", machine: "2 cores" };
  expect(resultsText([], [form])).toContain("\n| kills, Node host | 100 rounds | 2026-01-31T12:00 UTC | 2 cores |\n");
});
