import { isJsonObject, type JsonObject } from "@agent-env/protocol";

/** The environment that a deploy adds so that an agent can browse: it has no data. */
export const BROWSER_NAME = "website-browser";
/** Key in a part's metadata: which of several environments it is of. */
const ENVIRONMENT_KEY = "urn:agentenv:environment/v1";

export type Labelled = { readonly name: unknown; readonly key: unknown };

/** A part with the environment that it is of. */
export function labelled(part: JsonObject, { name, key }: { name: string; key: string }): JsonObject {
  const metadata = isJsonObject(part["metadata"]) ? part["metadata"] : {};
  return { ...part, metadata: { ...metadata, [ENVIRONMENT_KEY]: { name, key } } };
}

/** The environment that a part names; null if it names none. */
export function environmentOf(part: JsonObject): Labelled | null {
  const label = isJsonObject(part["metadata"]) ? part["metadata"][ENVIRONMENT_KEY] : undefined;
  return isJsonObject(label) ? { name: label["name"], key: label["key"] } : null;
}

/** The part as its environment gets it. */
export function unlabelled(part: JsonObject): JsonObject {
  const { metadata, ...bare } = part;
  const { [ENVIRONMENT_KEY]: _label, ...kept } = isJsonObject(metadata) ? metadata : {};
  return Object.keys(kept).length === 0 ? bare : { ...bare, metadata: kept };
}
