import { caseFold } from "./fold.ts";

/** The names that a gateway deploy gives its own containers, sorted: no server may have one (4-bundle §7.4). */
export const RESERVED_SERVER_NAMES = ["db-mcp", "gateway", "pgweb", "servicedb", "website-browser"] as const;

export const LOCAL_PREFIX = "@local/";
/** A declared id's bytes at most: room for the longest derived suffix within `MAX_ID_BYTES`. */
export const MAX_AUTHORED_ID_BYTES = 4071;
export const MAX_ID_BYTES = 4096;

/** Hashes the UTF-8 of a text: 64 hex digits. This package has no hash of its own, since it runs on any platform. */
export type Sha256Hex = (text: string) => string;

const SLUG_LENGTH = 48;
const DEPLOYMENT_SLUG_LENGTH = 24;
const BARE_KEY_BYTES = 200;

/**
 * The id as it stands in keys and file names (4-bundle §2.4): `local/<slug>-<hash>` of an `@local/` id; a bare id as it is,
 * up to 200 bytes.
 */
export function encodeId(id: string, sha256Hex: Sha256Hex): string {
  if (id.startsWith(LOCAL_PREFIX)) return encodeLocally(id, sha256Hex);
  return utf8Length(id) <= BARE_KEY_BYTES ? id : slugAndHash(id, sha256Hex);
}

/** The local form whatever the id: the repository of an image built on this machine. */
export function encodeLocally(id: string, sha256Hex: Sha256Hex): string {
  return `local/${slugAndHash(id, sha256Hex)}`;
}

/** An encoded id as one file name. */
export function encodedFileName(encodedId: string): string {
  return encodedId.replaceAll("/", "-");
}

function slugAndHash(id: string, sha256Hex: Sha256Hex): string {
  const path = id.startsWith(LOCAL_PREFIX) ? id.slice(LOCAL_PREFIX.length) : id;
  return [slug(path, SLUG_LENGTH), sha256Hex(id).slice(0, 12)].filter((part) => part !== "").join("-");
}

/** `text` in `a-z0-9-`, at most `length` long, without `-` at either end; empty when nothing of it can be kept. */
export function slug(text: string, length: number): string {
  const plain = caseFold(text.normalize("NFKD").replace(/\p{M}/gu, "")).replaceAll("~", "");
  return trimDashes(trimDashes(plain.replace(/[^a-z0-9]+/g, "-")).slice(0, length));
}

function trimDashes(text: string): string {
  return text.replace(/^-+|-+$/g, "");
}

/** The readable half of a deployment's id (5-run §5.1): `<this>-<8 of a-z0-9>` is one DNS label without `--`. */
export function deploymentSlug(envId: string): string {
  return slug(lastSegment(envId), DEPLOYMENT_SLUG_LENGTH) || "env";
}

export function lastSegment(id: string): string {
  return id.slice(id.lastIndexOf("/") + 1);
}

/** The id of what is made along with `baseId`: `<base>__<suffix>` (4-bundle §2.3). */
export function derivedId(baseId: string, suffix: string): string {
  return `${baseId}__${suffix}`;
}

/** The suffix of the image that is built for a key: `<owner>_image` for `image`, else the key itself. */
export function imageSuffix(owner: "env" | "agent", key: string): string {
  return key === "image" ? `${owner}_image` : key;
}

export type ServerKind = "mcp" | "website";

/** The containers that a server occupies in a deployment; their names are its host names there (3-wire §topology). */
export function serverContainers(server: { readonly kind: ServerKind; readonly name: string }): string[] {
  return server.kind === "mcp" ? [server.name] : [backendName(server.name), frontendName(server.name)];
}

/** The container of a site's backend. */
export function backendName(site: string): string {
  return `${site}-website-backend`;
}

/** The container of a site's front end. */
export function frontendName(site: string): string {
  return `${site}-website-frontend`;
}

/** Why a server can't have this name behind a gateway, where it is a host name and part of a path; null if it can. */
export function serverNameProblem(server: { readonly kind: ServerKind; readonly name: string }): string | null {
  const { name } = server;
  if (!/^[A-Za-z0-9._-]+$/.test(name))
    return "only A-Z, a-z, 0-9, '.', '_' and '-' may be in it, since it becomes a host name and part of a path";
  if (name === "." || name === "..") return "it would be read as a folder";
  const tooLong = serverContainers(server)
    .flatMap((container) => container.split("."))
    .find((label) => label.length > 63);
  if (tooLong !== undefined)
    return `${JSON.stringify(tooLong)}, a part of its container's name, is over 63 characters, the most a host name's part can have`;
  return null;
}

const ILLEGAL_IN_ID = /[^\p{L}\p{M}\p{N} ._\-~@()+,&]/u;
/** Letters and marks that show as nothing: two ids that differ only in these look alike. */
const IGNORABLE = /\u034f|[\u115f-\u1160\u3164\uffa0]|[\u17b4-\u17b5]|[\u180b-\u180d\u180f]|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]/u;
const LONE_MARK = /(?:^|[^\p{L}\p{M}\p{N}])\p{M}/u;

/** Why `segment` can't be a part of an id; null if it can. */
export function idSegmentProblem(segment: string): string | null {
  if (segment === "") return "it is empty";
  if (segment === "." || segment === "..") return "it stands for a folder";
  if (segment.startsWith(" ")) return "it opens with a space";
  if (segment.endsWith(" ")) return "it closes with a space";
  const illegal = ILLEGAL_IN_ID.exec(segment) ?? IGNORABLE.exec(segment);
  if (illegal) return `it holds ${showCharacter(illegal[0])}; letters, digits, space and . _ - ~ @ ( ) + , & are allowed`;
  if (LONE_MARK.test(segment)) return "a combining mark in it doesn't follow a letter or digit";
  return null;
}

/** Why `id` is no legal `@local/` id (4-bundle §2.2); null if it is one. Length and NFC included. */
export function localIdProblem(id: string): string | null {
  if (!id.startsWith(LOCAL_PREFIX)) return `it doesn't start with ${JSON.stringify(LOCAL_PREFIX)}`;
  return idFormProblem(id, id.slice(LOCAL_PREFIX.length));
}

/** Why `id` is no legal bare id, whose parts keep the rules of a local one's: both become parts of keys. Null if it is one. */
export function bareIdProblem(id: string): string | null {
  return idFormProblem(id, id);
}

function idFormProblem(id: string, path: string): string | null {
  if (id !== id.normalize("NFC")) return "it isn't in Unicode's composed form (NFC)";
  for (const segment of path.split("/")) {
    const problem = idSegmentProblem(segment);
    if (problem !== null)
      return segment === "" ? "one of its parts between slashes is empty" : `in its part ${JSON.stringify(segment)} ${problem}`;
  }
  if (utf8Length(id) > MAX_AUTHORED_ID_BYTES) return `it has ${utf8Length(id)} bytes, and ${MAX_AUTHORED_ID_BYTES} is the most`;
  return null;
}

/** Whether a bare id would be taken for the encoded form of a local one (4-bundle §2.2). */
export function looksEncoded(id: string): boolean {
  return id.startsWith("local/") || /^local-(?:.*-)?[0-9a-f]{12}$/.test(id);
}

/** The bytes of `text` in UTF-8. */
export function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}

function showCharacter(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return /[\p{C}\p{Z}\p{M}]/u.test(character) || IGNORABLE.test(character) ? `U+${hex}` : `${JSON.stringify(character)} (U+${hex})`;
}
