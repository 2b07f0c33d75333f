import type { Field } from "../../core/seam.ts";

/** `headers` in their order. The runtime's iterator turns that of cookies round where there are many fields; `getSetCookie` keeps it. */
export function fieldsIn(headers: Headers): Field[] {
  const cookies = headers.getSetCookie();
  let at = 0;
  return [...headers].map(([name, value]): Field => [name, name === "set-cookie" ? (cookies[at++] ?? value) : value]);
}

/**
 * `fields` as `Headers`. A field that stands in `original` with the same values, or with the first of them, is taken from there:
 * values are text here, but may have been bytes that are no UTF-8.
 */
export function headersOf(fields: readonly Field[], original?: Headers): Headers {
  if (original === undefined) return new Headers(fields.map(([name, value]): [string, string] => [name, value]));
  const wanted = new Map<string, string[]>();
  for (const [name, value] of fields) wanted.set(name, [...(wanted.get(name) ?? []), value]);
  const headers = new Headers(original);
  for (const name of new Set(original.keys())) if (!wanted.has(name)) headers.delete(name);
  for (const [name, values] of wanted) {
    const kept = sameOf(original, name, values);
    if (kept === 0) headers.delete(name);
    for (const value of values.slice(kept)) headers.append(name, value);
  }
  return headers;
}

/** How many of the values stand in `original`, all that there are: what comes behind them is added to these. */
function sameOf(original: Headers, name: string, values: readonly string[]): number {
  if (name !== "set-cookie") return original.get(name) === values[0] ? 1 : 0;
  const cookies = original.getSetCookie();
  return cookies.length <= values.length && cookies.every((cookie, at) => cookie === values[at]) ? cookies.length : 0;
}
