import { type Card, isJsonObject, type JsonObject } from "@agent-env/protocol";

export type CardExtension = NonNullable<Card["capabilities"]["extensions"]>[number];

/** One method of an extension, as a client calls it (3-wire §ext). `endpoint` is null where the card names none. */
export type ExtensionCall = {
  readonly uri: string;
  /** Null for an extension without methods. */
  readonly op: string | null;
  readonly verb: string;
  readonly endpoint: string | null;
  readonly request: JsonObject | null;
};

/** Extensions that are no calls: they say something, or have a way of their own. */
const WITHOUT_CALLS = ["urn:agentenv:intake/v1", "urn:agentenv:data-objects/v1"];
export const GET_INTERFACES_URI = "urn:agentenv:get-interfaces/v1";
const INTERFACES_ENDPOINT = "/agentenv/interface-manifest";

/** An extension of a card by its URI. */
export function extensionOf(card: Card, uri: string): CardExtension | undefined {
  return card.capabilities.extensions?.find((one) => one.uri === uri);
}

/** All that a client can call of an extension, the first one being what is called when it names none. */
export function callsOf({ uri, params }: CardExtension): ExtensionCall[] {
  if (WITHOUT_CALLS.includes(uri)) return [];
  const own = textOr(params?.["endpoint"], null);
  if (uri === GET_INTERFACES_URI) return [{ uri, op: null, verb: "GET", endpoint: own ?? INTERFACES_ENDPOINT, request: null }];
  const methods = isJsonObject(params?.["methods"]) ? Object.entries(params["methods"]) : [];
  if (methods.length === 0) return own === null ? [] : [{ uri, op: null, verb: "POST", endpoint: own, request: null }];
  return methods.map(([op, method]) => {
    const said = isJsonObject(method) ? method : {};
    return {
      uri,
      op,
      verb: (textOr(said["method"], null) ?? "POST").toUpperCase(),
      endpoint: textOr(said["endpoint"], null) ?? own,
      request: isJsonObject(said["request"]) ? said["request"] : null,
    };
  });
}

/** A call as a person names it. */
export function callName({ uri, op }: ExtensionCall): string {
  return op === null ? uri : `${uri} ${op}`;
}

function textOr<T>(value: unknown, otherwise: T): string | T {
  return typeof value === "string" && value !== "" ? value : otherwise;
}
