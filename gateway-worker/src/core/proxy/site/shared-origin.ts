import type { DeployedServer } from "@agent-env/protocol";
import type { Sql } from "../../seam.ts";

const TOLD = "shared_origin_told";

/** What is said, once in a deployment's life, where several sites are served under prefixes of one origin (7-sites §4). Null: nothing. */
export function sharedOriginWarning(sql: Sql, servers: readonly DeployedServer[]): string | null {
  const sites = servers.filter(({ kind, frontend_url }) => kind === "website" && frontend_url !== undefined).map(({ name }) => name);
  if (sites.length < 2 || sql.exec("SELECT 1 FROM facts WHERE name = ?", TOLD).length > 0) return null;
  sql.exec("INSERT INTO facts (name, value) VALUES (?, '')", TOLD);
  const names = sites.join(", ");
  return `under /website/ the sites ${names} share one origin: what one stores or runs in a browser, the others reach; open sites that don't trust each other on hosts of their own`;
}
