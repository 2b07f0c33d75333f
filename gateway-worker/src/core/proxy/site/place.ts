/** Where a site is served: its own addresses, and the outer address that stands for them. */
export type SitePlace = {
  /** `https://gateway.example`, without a path. */
  readonly outerOrigin: string;
  /** `/website/shop`, with all that the caller's path has before it; empty on a host of its own. */
  readonly prefix: string;
  /** The path that was asked for, without `prefix` and query. */
  readonly path: string;
  readonly origins: readonly string[];
};

/** A root-relative URL under the prefix, once; one of the site's own addresses as the outer address. Others stay. */
export function placedUrl(url: string, place: SitePlace): string {
  if (/^\/(?![/\\])/.test(url)) return underPrefix(url, place.prefix);
  if (!/^([a-z][a-z0-9+.-]*:)?[\\/]{2}/i.test(url)) return url;
  const absolute = URL.parse(url, "http://relative.invalid");
  if (absolute === null || !/^https?:$/.test(absolute.protocol)) return url;
  const own = place.origins.some((origin) => new URL(origin).host === absolute.host);
  if (own || isOuterWithoutPrefix(absolute, place)) return place.outerOrigin + underPrefix(written(url), place.prefix);
  return url;
}

/** Path, query and fragment of an absolute URL with the bytes that it was written in. */
function written(url: string): string {
  const rest = url.replace(/^(?:[a-z][a-z0-9+.-]*:)?[\\/]+[^\\/?#]*/i, "");
  return /^[\\/]/.test(rest) ? `/${rest.slice(1)}` : `/${rest}`;
}

/** A site that builds absolute URLs from `X-Forwarded-Host` alone. Another site's address is left as it is. */
function isOuterWithoutPrefix(url: URL, { outerOrigin, prefix }: SitePlace): boolean {
  if (prefix === "" || url.host !== new URL(outerOrigin).host) return false;
  return !isUnder(url.pathname, prefix.slice(0, prefix.lastIndexOf("/")));
}

/** Dot segments count before the prefix does: behind it they would lead out of it again. */
export function underPrefix(path: string, prefix: string): string {
  if (prefix === "") return path;
  const plain = withoutDots(path);
  return isUnder(plain, prefix) ? plain : prefix + plain;
}

/** Whether a path is the prefix or lies below it. */
export function isUnder(path: string, prefix: string): boolean {
  const rest = path.startsWith(prefix) ? path[prefix.length] : null;
  return rest === undefined || (rest !== null && "/?#".includes(rest));
}

/** A root-relative URL with its dot segments resolved as a browser does it. One that has none keeps its bytes. */
function withoutDots(path: string): string {
  const read = path.replace(/[\t\r\n]/g, "");
  if (!/^[^?#]*[\\/](?:\.|%2e){1,2}(?:[\\/?#]|$)/i.test(read)) return path;
  const ascii = read.replace(/[\u0080-\u00ff]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const url = new URL(`http://site.invalid${ascii}`);
  return url.href.slice(url.origin.length);
}
