import { isJsonObject, isListedTool, type JsonObject } from "@agent-env/protocol";

/** The four lists that a server may have. */
export type ListKind = "tools" | "prompts" | "resources" | "templates";

type Kind = {
  readonly method: string;
  /** Where the items are in a result. */
  readonly key: string;
  /** The capability of a server that has such a list. */
  readonly capability: "tools" | "prompts" | "resources";
  /** How a change of it is told. */
  readonly changed: string;
  /** What names an item among the others. */
  readonly nameKey: string;
  readonly isItem: (item: unknown) => item is JsonObject;
  readonly lacks: string;
};

const named =
  (...keys: readonly string[]) =>
  (item: unknown): item is JsonObject =>
    isJsonObject(item) && keys.every((key) => typeof item[key] === "string" && item[key] !== "");

/** Clients refuse a whole list for one item that isn't one. */
export const KINDS: Readonly<Record<ListKind, Kind>> = {
  tools: {
    method: "tools/list",
    key: "tools",
    capability: "tools",
    changed: "notifications/tools/list_changed",
    nameKey: "name",
    isItem: isListedTool,
    lacks: "it has no name or no inputSchema of type object",
  },
  prompts: {
    method: "prompts/list",
    key: "prompts",
    capability: "prompts",
    changed: "notifications/prompts/list_changed",
    nameKey: "name",
    isItem: named("name"),
    lacks: "it has no name",
  },
  resources: {
    method: "resources/list",
    key: "resources",
    capability: "resources",
    changed: "notifications/resources/list_changed",
    nameKey: "uri",
    isItem: named("uri", "name"),
    lacks: "it has no uri or no name",
  },
  templates: {
    method: "resources/templates/list",
    key: "resourceTemplates",
    capability: "resources",
    changed: "notifications/resources/list_changed",
    nameKey: "uriTemplate",
    isItem: named("uriTemplate", "name"),
    lacks: "it has no uriTemplate or no name",
  },
};

export const LIST_KINDS: readonly ListKind[] = ["tools", "prompts", "resources", "templates"];
