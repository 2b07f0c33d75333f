import { caseFold } from "./fold.ts";

/** A path as the segments that count: no empty ones, dots, parameters, case or escapes. `[]` is the root. */
export type Segments = readonly string[];

/** How a request path stands to a set of paths. `unsafe`: it has no reading that two servers would agree on. */
export type Reach = "clear" | "inside" | "unsafe";

const DECODING_ROUNDS = 5;

/** The base without its trailing `/`, one `/`, the path without its leading `/`. Never URL resolution (3-wire). */
export function joined(base: string, path: string): string {
  return `${base.replace(/\/$/, "")}/${path.replace(/^\//, "")}`;
}

/** A text without the characters at its end that are `dropped`: in linear time, which `/[…]+$/` is not. */
export function withoutEnd(text: string, dropped: (char: string) => boolean): string {
  let end = text.length;
  while (end > 0 && dropped(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/**
 * Whether a request path reaches one of `targets`, or something under it, in any spelling (3-wire §site). `path` is
 * without query, as the WHATWG URL parser leaves it; exactly that may then be forwarded.
 */
export function reach(path: string, targets: readonly Segments[]): Reach {
  const readings = readingsOf(path);
  if (readings === null) return "unsafe";
  const lists = readings.map(segmentsOf);
  if (lists.some((list) => list === null)) return "unsafe";
  return lists.some((list) => list !== null && targets.some((target) => isAtOrUnder(list, target))) ? "inside" : "clear";
}

/**
 * The paths that a URL on a card names, treated as request paths are. `origins` are the addresses of the server itself:
 * an absolute URL of any other origin names none.
 */
export function cardPaths(url: string, origins: readonly string[]): Segments[] {
  const path = pathOnServer(url, origins);
  if (path === null) return [];
  const readings = readingsOf(path) ?? [path];
  return readings.flatMap((reading) => {
    const segments = segmentsOf(reading);
    return segments === null ? [] : [segments];
  });
}

/**
 * The path that a URL on a card means on its own server, with a leading `/`, or null if it is on another origin. Query
 * and fragment are dropped: `mcp`, `./mcp`, `/mcp?x` and `http://<own address>/mcp` are all `/mcp`.
 */
export function pathOnServer(url: string, origins: readonly string[]): string | null {
  const text = url.trim();
  if (!/^([a-z][a-z0-9+.-]*:|[\\/]{2})/i.test(text)) return parsedPath(text.startsWith("/") ? text : `/${text}`);
  const absolute = URL.parse(text, "http://relative.invalid");
  const own = absolute !== null && origins.some((origin) => sameServer(absolute, origin));
  return absolute !== null && own ? absolute.pathname : null;
}

function sameServer(url: URL, origin: string): boolean {
  const server = URL.parse(origin);
  const scheme = url.protocol.replace(/^ws/, "http");
  if (server === null || !scheme.startsWith("http")) return false;
  return url.host === server.host || `${scheme}//${url.host}` === server.origin;
}

function parsedPath(path: string): string {
  return new URL(`http://server.invalid${path.replace(/[?#].*$/s, "")}`).pathname;
}

/** The path itself, and decoded once more each time until nothing changes; null if it is still changing after five rounds. */
function readingsOf(path: string): string[] | null {
  const readings = [path];
  if (!path.includes("%")) return readings;
  let bytes: Uint8Array = new TextEncoder().encode(path);
  for (let round = 0; round <= DECODING_ROUNDS; round++) {
    const decoded = percentDecoded(bytes);
    if (decoded === null) return readings;
    bytes = decoded;
    readings.push(new TextDecoder().decode(bytes));
  }
  return null;
}

/** `null` when there is nothing to decode. Bytes, since escapes of one character may come in several rounds. */
function percentDecoded(bytes: Uint8Array): Uint8Array | null {
  const out = new Uint8Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const high = bytes[at] === 0x25 ? hexDigit(bytes[at + 1]) : -1;
    const low = high >= 0 ? hexDigit(bytes[at + 2]) : -1;
    out[length++] = low >= 0 ? high * 16 + low : (bytes[at] ?? 0);
    if (low >= 0) at += 2;
  }
  return length === bytes.length ? null : out.subarray(0, length);
}

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1;
}

/** One reading as the segments that count; null where it holds a control byte or a dot-dot. */
function segmentsOf(reading: string): string[] | null {
  const text = reading.normalize("NFKC").replaceAll("\\", "/");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control bytes are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(text)) return null;
  const segments = text.split("/").map((segment) =>
    segment
      .replace(/;.*$/s, "")
      .replace(/\p{Cf}/gu, "")
      .trimEnd(),
  );
  if (segments.includes("..")) return null;
  return segments
    .map((segment) => caseFold(withoutEnd(segment, (char) => char === "." || /\s/.test(char))))
    .filter((segment) => segment !== "");
}

/** The root reserves itself alone, not what is under it. */
function isAtOrUnder(list: Segments, target: Segments): boolean {
  if (target.length === 0) return list.length === 0;
  return target.every((segment, at) => list[at] === segment);
}
