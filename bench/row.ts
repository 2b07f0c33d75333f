export const UNITS = ["ms", "s", "µs", "/s", "MB", "MB/s", "kB"] as const;

/** What the ratio, or the value, has to be. */
export type Bar = ({ readonly atLeast: number } | { readonly atMost: number }) & { readonly of?: "value" };

/** One figure of a benchmark: ours and a peer that does the same work, measured by turns in one run. */
export type Row = {
  readonly bench: string;
  readonly metric: string;
  readonly unit: (typeof UNITS)[number];
  /** Medians, in `unit`. */
  readonly ours: number;
  readonly peer: number;
  /** What the metric names: ours, or what ours takes beyond the peer. */
  readonly value: number;
  /** ours / peer. It says more than the other figures, which depend on the machine. */
  readonly ratio: number;
  /** The original's median for the same work in the same run, or why there is none; left out: it has no such thing. */
  readonly original?: number | string;
  /** Left out: the figure is only told. */
  readonly bar?: Bar;
};

export type Bench = {
  readonly name: string;
  /** What is measured against what, in a sentence. */
  readonly about: string;
  run(say: (line: string) => void): Promise<Row[]>;
};

/** The row of times that were measured by turns. `beyond` makes the value what ours takes beyond the peer. */
export function rowOf(
  measured: Pick<Row, "bench" | "metric" | "unit"> & {
    readonly ours: readonly number[];
    readonly peer: readonly number[];
    readonly beyond: boolean;
    readonly original?: readonly number[] | string;
    readonly bar?: Bar;
  },
): Row {
  const { bench, metric, unit, beyond, original, bar } = measured;
  const ours = median(measured.ours);
  const peer = median(measured.peer);
  return {
    bench,
    metric,
    unit,
    ours: rounded(ours),
    peer: rounded(peer),
    value: rounded(beyond ? ours - peer : ours),
    ratio: rounded(ours / peer),
    ...(original === undefined ? {} : { original: typeof original === "string" ? original : rounded(median(original)) }),
    ...(bar === undefined ? {} : { bar }),
  };
}

/** What was asked of a row and whether it holds: `≥ 2: met`, `≤ 6: missed by 20 %`; nothing where nothing was asked. */
export function verdict({ ratio, value, unit, bar }: Pick<Row, "ratio" | "value" | "unit" | "bar">): string {
  if (bar === undefined) return "";
  const figure = bar.of === "value" ? value : ratio;
  const [sign, limit] = "atLeast" in bar ? ["≥", bar.atLeast] : ["≤", bar.atMost];
  const isMet = sign === "≥" ? figure >= limit : figure <= limit;
  const asked = `${sign} ${limit}${bar.of === "value" ? ` ${unit}` : ""}`;
  return `${asked}: ${isMet ? "met" : `missed by ${Math.round(100 * Math.abs(figure / limit - 1))} %`}`;
}

/** The middle of the values, or the mean of the two in the middle. Throws when there are none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  if (upper === undefined || lower === undefined) throw new Error("no values to take the median of");
  return (lower + upper) / 2;
}

/** How long it takes, in seconds. */
export async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

/** To three digits: a run on a shared machine tells no more. */
function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
