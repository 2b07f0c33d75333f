/**
 * A `srcset` with the URLs of its candidates changed; descriptors, commas and spaces stay (HTML §4.8.4.2.2). A URL ends at a
 * space; commas are its own unless they end it.
 */
export function mappedSrcset(srcset: string, map: (url: string) => string): string {
  const candidate = /([\s,]*)(\S*)/y;
  let out = "";
  while (candidate.lastIndex < srcset.length) {
    const [, gap = "", word = ""] = candidate.exec(srcset) ?? [];
    const url = word.replace(/,+$/, "");
    const descriptors = url === word ? descriptorsAt(srcset, candidate.lastIndex) : "";
    candidate.lastIndex += descriptors.length;
    out += gap + map(url) + word.slice(url.length) + descriptors;
  }
  return out;
}

/** All up to the comma that ends a candidate. One in parentheses is part of a descriptor. */
function descriptorsAt(srcset: string, from: number): string {
  let depth = 0;
  let end = from;
  for (; end < srcset.length; end++) {
    const char = srcset[end];
    if (char === "(") depth++;
    else if (char === ")") depth = Math.max(0, depth - 1);
    else if (char === "," && depth === 0) break;
  }
  return srcset.slice(from, end);
}
