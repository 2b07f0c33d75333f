/** The integer in a query; `fallback` where there is none, null for anything else. */
export function integerIn(text: string | undefined, fallback: number): number | null {
  if (text === undefined) return fallback;
  return /^-?\d{1,15}$/.test(text) ? Number(text) : null;
}
