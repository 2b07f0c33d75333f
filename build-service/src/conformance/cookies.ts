/** A cookie as a site sets it. Names of attributes are in lower case; one without a value has the empty string. */
export type SetCookie = { readonly name: string; readonly value: string; readonly attributes: ReadonlyMap<string, string> };

/** Reads a `Set-Cookie` field (RFC 6265 §5.2). */
export function setCookieOf(field: string): SetCookie {
  const [pair = "", ...attributes] = field.split(";");
  const [name, value] = halves(pair);
  return {
    name,
    value,
    attributes: new Map(attributes.map((attribute) => halves(attribute)).map(([key, said]) => [key.toLowerCase(), said])),
  };
}

function halves(text: string): [string, string] {
  const at = text.indexOf("=");
  return at === -1 ? [text.trim(), ""] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}
