/**
 * The highest of the numbers 1, 2, 3, … that `exists`, which have no gap; 0 when there is none. Looks on from `hint` in
 * steps that double, so the number of questions is fixed where the hint is right, and grows with the logarithm of its error
 * where it lags behind a crash, or stands for something that has gone.
 */
export async function highest(hint: number, exists: (number: number) => Promise<boolean>): Promise<number> {
  const [isThere, hasNext] = await Promise.all([hint === 0 ? true : exists(hint), exists(hint + 1)]);
  if (isThere && !hasNext) return hint;
  // Always: `low` exists or is 0, `high` doesn't exist.
  let low = isThere ? hint + 1 : 0;
  let high = isThere ? hint + 2 : hint;
  if (isThere) {
    for (let step = 1; await exists(high); step *= 2) {
      low = high;
      high += step;
    }
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (await exists(middle)) low = middle;
    else high = middle;
  }
  return low;
}
