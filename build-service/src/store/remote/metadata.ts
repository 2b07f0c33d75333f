const PREFIX = "x-amz-meta-";

/**
 * An object's metadata as S3 headers. R2 decodes values by RFC 2047 before it stores them, so that a Worker reads the same
 * text, and encodes them when it gives them out, but only where they aren't ASCII: ASCII that a header can't hold is a bug.
 */
export function metadataHeaders(metadata: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(metadata).map(([name, value]) => {
    if (!/^[a-z0-9-]+$/.test(name)) throw new Error(`a metadata key is a header's name, in lower case: ${JSON.stringify(name)}`);
    if (isPlain(value)) return [`${PREFIX}${name}`, value];
    if (/^[^\u0080-\uffff]*$/.test(value)) throw new Error(`a header can't hold this metadata: ${JSON.stringify(value)}`);
    return [`${PREFIX}${name}`, `=?UTF-8?B?${Buffer.from(value, "utf8").toString("base64")}?=`];
  });
}

/** The metadata that an answer's headers hold. */
export function metadataOf(headers: Headers): Record<string, string> {
  return Object.fromEntries(
    [...headers].filter(([name]) => name.startsWith(PREFIX)).map(([name, value]) => [name.slice(PREFIX.length), decoded(value)]),
  );
}

/** Single spaces inside only: a signature collapses longer ones, and a header loses those at its ends. */
const isPlain = (value: string): boolean => /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/.test(value) && !value.includes("=?");

const ENCODED_WORDS = /^(?:=\?utf-8\?[bq]\?[^?]*\?=\s*)+$/i;
const ENCODED_WORD = /=\?utf-8\?([bq])\?([^?]*)\?=\s*/gi;

/** RFC 2047 §2. Words are decoded as bytes first: a character may be cut between two. */
function decoded(value: string): string {
  if (!ENCODED_WORDS.test(value)) return value;
  const bytes = [...value.matchAll(ENCODED_WORD)].map(([, encoding, text = ""]) =>
    encoding?.toLowerCase() === "b" ? Buffer.from(text, "base64") : Buffer.from(quoted(text), "latin1"),
  );
  return Buffer.concat(bytes).toString("utf8");
}

function quoted(text: string): string {
  return text.replaceAll("_", " ").replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
