import { HIDDEN_META_KEY, isAllowed, isJsonObject, type JsonObject, type ListedTool, type RoleRules } from "@agent-env/protocol";
import type { ListKind } from "../mcp/item-kinds.ts";
import { type Entry, type NameMode, type NameTable, nameTable, type Source } from "./names.ts";
import { type UriTable, uriTable } from "./uris.ts";

/** Everything that the servers of a deployment offer, as one server's lists. */
export type Catalogue = {
  readonly tools: NameTable<ListedTool>;
  readonly prompts: NameTable;
  readonly resources: UriTable;
  readonly templates: UriTable;
};

/** The lists of all sources, given in order, as one. */
export function catalogueOf(
  tools: readonly Source<ListedTool>[],
  others: (kind: Exclude<ListKind, "tools">) => readonly Source[],
  mode: NameMode = "plain",
): Catalogue {
  return {
    tools: nameTable(tools, mode),
    prompts: nameTable(others("prompts"), mode),
    resources: uriTable(others("resources"), "uri"),
    templates: uriTable(others("templates"), "uriTemplate"),
  };
}

/** Whether a role may see and call an entry. */
export function mayUse(rules: RoleRules, role: string, { name, qualified, item }: Pick<Entry, "name" | "qualified" | "item">): boolean {
  return isAllowed(rules, role, { name, qualified, hidden: isHidden(item) });
}

/** Whether a server marks a tool as hidden by default. */
export function isHidden(tool: JsonObject): boolean {
  const meta = tool["_meta"];
  return isJsonObject(meta) && meta[HIDDEN_META_KEY] === true;
}

/** Whether a tool says that calling it twice does no more than calling it once. */
export function mayRepeat(tool: JsonObject): boolean {
  const annotations = tool["annotations"];
  return isJsonObject(annotations) && (annotations["readOnlyHint"] === true || annotations["idempotentHint"] === true);
}
