import { currentHeaders } from "./context.ts";

/** A prefix that may stand in a link and in a cookie's path. */
const PREFIX = /^(\/[A-Za-z0-9._~!$&'()*+,=:@%-]+)*$/;

/** What the visitor's path has before the site's own, set by a gateway: `/website/shop`, or nothing. */
export function pathPrefix(): string {
  const given = (currentHeaders().get("x-forwarded-prefix") ?? "").replace(/\/+$/, "");
  return PREFIX.test(given) ? given : "";
}

/** The address of a path of this site, right under a gateway's prefix too. For links, forms and redirects. */
export function link(path: string): string {
  return `${pathPrefix()}/${path.replace(/^\/+/, "")}`;
}
