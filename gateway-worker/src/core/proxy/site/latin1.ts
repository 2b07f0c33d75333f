/** How many characters are made at once: more arguments than a function may have would throw. */
const AT_ONCE = 2_048;

/** Bytes as characters of the same numbers: what is ASCII in them can be read, and every byte is kept. */
export function latin1Text(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += AT_ONCE) text += Reflect.apply(String.fromCharCode, null, bytes.subarray(at, at + AT_ONCE));
  return text;
}

/** The bytes again. */
export function latin1Bytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}
