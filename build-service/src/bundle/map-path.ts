type Table = Readonly<Record<string, unknown>>;

/** Called for each value at a path. `place` is the path with list positions, `parent` the object that holds the value. */
export type Visit = (value: unknown, place: string, parent: Table) => unknown;

/**
 * `table` with each value at `path` replaced by what `visit` gives for it. `[]` after a name stands for each element of a
 * list: `artifacts[].id`. What isn't there, or isn't of the path's shape, is left as it is.
 */
export function mapPath(table: Table, path: string, visit: Visit): Table {
  return mapSegments(table, path.split("."), "", visit);
}

function mapSegments(table: Table, segments: readonly string[], above: string, visit: Visit): Table {
  const [segment = "", ...rest] = segments;
  const key = segment.replace(/\[\]$/, "");
  const value = table[key];
  if (value === undefined || value === null) return table;
  const place = `${above}${key}`;
  const mapOne = (item: unknown, at: string): unknown => {
    if (rest.length === 0) return visit(item, at, table);
    return isTableLike(item) ? mapSegments(item, rest, `${at}.`, visit) : item;
  };
  if (key === segment) return { ...table, [key]: mapOne(value, place) };
  return Array.isArray(value) ? { ...table, [key]: value.map((item: unknown, index) => mapOne(item, `${place}[${index}]`)) } : table;
}

function isTableLike(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
