/** At the end of a tag that was a strong one: a page that is rewritten isn't byte for byte what the site tagged (RFC 9110 §8.8.1). */
const MARK = "-rewritten";

/** The tag of a rewritten page: weak, and so that the site's own can be told from it. */
export function shownEtag(etag: string): string {
  const opaque = /^\s*"([^"]*)"\s*$/.exec(etag)?.[1];
  return opaque === undefined ? etag : `W/"${opaque}${MARK}"`;
}

/** The tags of an `If-None-Match` as the site gave them. */
export function siteEtags(tags: string): string {
  return tags.replace(/W\/"([^"]*)-rewritten"/g, '"$1"');
}
