const OPENING = "=?base64?";
const CLOSING = "?=";
const PLAIN = /^[\x20-\x7e]*$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** A text as the value of a header that repeats it: in base64 where it couldn't stand there as it is (6-mcp §4). */
export function encodedHeader(text: string): string {
  const isMarked = text.startsWith(OPENING) && text.endsWith(CLOSING);
  if (PLAIN.test(text) && text.trim() === text && !isMarked) return text;
  return OPENING + btoa(String.fromCharCode(...new TextEncoder().encode(text))) + CLOSING;
}

/** What such a header says; null where its base64 is none, or no UTF-8. */
export function decodedHeader(value: string): string | null {
  if (!value.startsWith(OPENING) || !value.endsWith(CLOSING)) return value;
  const base64 = value.slice(OPENING.length, -CLOSING.length);
  if (!BASE64.test(base64)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
