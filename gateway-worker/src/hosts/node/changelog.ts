import type postgres from "postgres";
import type { Changelog, ChangeRow } from "../../core/seam.ts";

const CONNECT_SECONDS = 5;
const IDLE_SECONDS = 60;
/** The database has no such table before the first server has loaded its data. */
const NO_TABLE = "42P01";

/** The changelog of the database at an address; null without one. The client is loaded when it is first asked. */
export function changelogAt(url: string, log: (line: string) => void): Changelog | null {
  if (url === "") return null;
  let client: Promise<postgres.Sql> | null = null;
  let isTroubled = false;
  const read = async <T>(query: (sql: postgres.Sql) => Promise<T>, none: T): Promise<T | null> => {
    client ??= connected(url);
    try {
      const answer = await query(await client);
      isTroubled = false;
      return answer;
    } catch (error) {
      if (!(error instanceof Error && "code" in error)) throw error;
      if (error.code === NO_TABLE) return none;
      if (!isTroubled) log(`the changelog can't be read: ${String(error.code)}`);
      isTroubled = true;
      return null;
    }
  };
  return {
    lastId: () => read(async (sql) => Number((await sql`SELECT coalesce(max(id), 0) AS id FROM public._changelog`)[0]?.["id"] ?? 0), 0),
    rowsAfter: (id, limit) =>
      read<readonly ChangeRow[]>(async (sql) => {
        const rows = await sql`
          SELECT id, to_char(timestamp AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') AS timestamp, schema_name, table_name,
                 operation, row_id::text AS row_id, summary, changed_fields
          FROM public._changelog WHERE id > ${id} ORDER BY id LIMIT ${limit}`;
        return rows.map(changeRow);
      }, []),
  };
}

async function connected(url: string): Promise<postgres.Sql> {
  const { default: postgres } = await import("postgres");
  return postgres(url, { max: 4, connect_timeout: CONNECT_SECONDS, idle_timeout: IDLE_SECONDS, onnotice: () => undefined });
}

function changeRow(row: postgres.Row): ChangeRow {
  const text = (name: string): string | null => (row[name] === null ? null : String(row[name]));
  return {
    id: Number(row["id"]),
    timestamp: String(row["timestamp"]).replace(".000000+", "+"),
    schema_name: String(row["schema_name"]),
    table_name: String(row["table_name"]),
    operation: String(row["operation"]),
    row_id: text("row_id"),
    summary: text("summary"),
    changed_fields: row["changed_fields"],
  };
}
