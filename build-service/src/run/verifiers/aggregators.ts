import type { Row } from "./rows.ts";

/** From the rows of a verification to its score (5-run §9.1). Without rows each gives 0. */
const AGGREGATORS = {
  all_pass: (rows: readonly Row[]): number => (rows.length > 0 && rows.every(({ result }) => result) ? 1 : 0),
  any_pass: (rows: readonly Row[]): number => (rows.some(({ result }) => result) ? 1 : 0),
  weighted_average: weightedAverage,
};
export type Aggregator = keyof typeof AGGREGATORS;

/** The score that an aggregator makes of these rows, from 0 to 1. */
export function aggregate(aggregator: Aggregator, rows: readonly Row[]): number {
  return AGGREGATORS[aggregator](rows);
}

/** A negative weight takes away what a row is short of 1, so a penalty that doesn't apply (score 1) costs nothing. */
function weightedAverage(rows: readonly Row[]): number {
  const scored = rows.map((row) => ({ weight: row.weight ?? 1, score: row.score ?? (row.result ? 1 : 0) }));
  const positive = scored.filter(({ weight }) => weight > 0);
  const negative = scored.filter(({ weight }) => weight < 0);
  const total = sum(positive.map(({ weight }) => weight));
  if (total === 0) return 0;
  const earned = sum(positive.map(({ score, weight }) => score * weight));
  const lost = sum(negative.map(({ score, weight }) => (1 - score) * -weight));
  return Math.min(1, Math.max(0, (earned - lost) / total));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
