import { HEADERS_ONLY, SITE_LAYERS_HEADER } from "@agent-env/protocol";
import type { In } from "../../seam.ts";

const FIELD = SITE_LAYERS_HEADER.toLowerCase();

/**
 * Whether a request asks for a site's pages as they are, with their headers alone put under the prefix: a check finds out by it
 * whether the site needs more. What goes wrong with such a one is no defect of the site's.
 */
export function asksHeadersOnly(request: In): boolean {
  return request.header(FIELD) === HEADERS_ONLY;
}
