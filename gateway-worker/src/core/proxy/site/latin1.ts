/** How many characters are made at once: more arguments than a function may have would throw. */
const AT_ONCE = 2_048;

/** ASCII is the same in both, and by far the fastest as UTF-8. */
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
const encoder = new TextEncoder();

/** Bytes as characters of the same numbers: what is ASCII in them can be read, and every byte is kept. */
export function latin1Text(bytes: Uint8Array): string {
  const utf8 = decoder.decode(bytes);
  // a byte a character, and none that isn't UTF-8: all of them are ASCII
  if (utf8.length === bytes.length && !utf8.includes("\ufffd")) return utf8;
  let text = "";
  for (let at = 0; at < bytes.length; at += AT_ONCE) text += Reflect.apply(String.fromCharCode, null, bytes.subarray(at, at + AT_ONCE));
  return text;
}

/** The bytes again. */
export function latin1Bytes(text: string): Uint8Array {
  const utf8 = encoder.encode(text);
  if (utf8.length === text.length) return utf8;
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}
