import type { Subject } from "./check.ts";
import type { Exchange } from "./http.ts";
import { once } from "./once.ts";

/** What a site is told of where a viewer sees it, when it is asked itself: a gateway says it anew (3-wire §svc). */
const SEEN_AT = { prefix: "/website/agent-env-conformance", proto: "https" };

/** A subject that serves pages. */
export type Site = {
  /** What its viewer's paths begin with. */
  readonly prefix: string;
  readonly isHttps: boolean;
  readonly page: Exchange;
};

/** The site that a subject is, asked once; null for one that serves no pages. */
export const siteOf = once(async (subject): Promise<Site | null> => {
  const { through } = subject;
  if (through !== null && !(await isSite(through.http, through.key))) return null;
  const page = await subject.http.ask("/", { headers: viewerHeaders(subject) });
  if (through === null && page.type !== "text/html" && !(await answersHealth(subject))) return null;
  if (through === null) return { prefix: SEEN_AT.prefix, isHttps: true, page };
  const { protocol, pathname } = new URL(subject.http.base);
  return { prefix: pathname.replace(/\/$/, ""), isHttps: protocol === "https:", page };
});

/** The fields that a gateway sends with a viewer's request. */
export function viewerHeaders({ through }: Subject): Record<string, string> {
  return through === null ? { "x-forwarded-prefix": SEEN_AT.prefix, "x-forwarded-proto": SEEN_AT.proto } : {};
}

/** A gateway knows its sites: `/website/<site>` is one's address, redirected or served in place. */
async function isSite(gateway: Subject["http"], key: string): Promise<boolean> {
  const answer = await gateway.ask(`/website/${key}`);
  return answer.status !== 404;
}

async function answersHealth({ http }: Subject): Promise<boolean> {
  const { status } = await http.ask("/api/health");
  return status >= 200 && status < 300;
}
