import { type Check, failed, passed, type Subject, skipped, type Verdict } from "./check.ts";
import { type Site, siteOf } from "./site.ts";

const HEALTH = "/api/health";
/** Attributes that make a browser ask for something. */
const LINKS = /\s(?:href|src|action|formaction|poster)\s*=\s*(?:"([^"]*)"|'([^']*)')/gi;

/** What is promised of a website (3-wire §website, 7-sites). */
export const WEBSITE_CHECKS: readonly Check[] = [
  ofSite({
    id: "website-health",
    level: "required",
    title: "the backend says at /api/health that it is up",
    async verdict({ http }) {
      const answer = await http.ask(HEALTH);
      // Without the route its card is what is asked for, and that was read.
      if (answer.status === 404 || (answer.status >= 200 && answer.status < 300)) return passed;
      return failed(answer, {
        expected: "HTTP 2xx, or 404 where there is no such route",
        fix: "answer 2xx once the backend is up: a deploy waits for it",
      });
    },
  }),
  ofSite({
    id: "website-page",
    level: "required",
    title: "the page at / is HTML",
    verdict(_subject, { page }) {
      if (page.status === 404) return skipped("it serves no page at /: its front end may");
      if (page.status >= 300 && page.status < 400) return passed;
      if (page.status === 200 && page.type === "text/html") return passed;
      return failed(page, { expected: "HTTP 200 text/html", fix: "answer with a page, and say that it is one" });
    },
  }),
  ofSite({
    id: "website-links",
    level: "recommended",
    title: "links of the page hold under the prefix that its viewer sees",
    verdict(_subject, { page, prefix }) {
      if (page.status !== 200 || page.type !== "text/html") return skipped("there is no page at /");
      const links = [...page.text.matchAll(LINKS)].map(([, double, single]) => double ?? single ?? "");
      const fromRoot = links.filter((link) => link.startsWith("/") && !link.startsWith("//"));
      const wrong = fromRoot.filter((link) => !link.startsWith(`${prefix}/`) || link.startsWith(`${prefix}${prefix}/`));
      if (wrong.length === 0) return passed;
      return failed(page, {
        expected: `links that are relative, or begin with ${prefix}/`,
        got: `links to ${wrong.map((link) => JSON.stringify(link)).join(", ")}`,
        fix: "put X-Forwarded-Prefix before links of your own (link() of the SDK), or write them relative to the page",
      });
    },
  }),
  ofSite({
    id: "website-front-end",
    level: "required",
    title: "the gateway serves the site's pages",
    on: ["service"],
    async verdict({ through }) {
      if (through === null) return skipped("it isn't reached through a gateway");
      const answer = await through.http.ask(`/website/${through.key}/`);
      if (answer.status === 401 || answer.status === 403) return skipped("the token isn't good for pages (scope sites)");
      return answer.status < 500
        ? passed
        : failed(answer, { expected: "the site's page", fix: "look at the front end: the gateway gets no answer from it" });
    },
  }),
];

type SiteCheck = Omit<Check, "group" | "run"> & { verdict(subject: Subject, site: Site): Verdict | Promise<Verdict> };

function ofSite({ verdict, ...check }: SiteCheck): Check {
  return {
    ...check,
    group: "website",
    async run(subject) {
      const site = await siteOf(subject);
      return site === null ? skipped("it serves no pages") : await verdict(subject, site);
    },
  };
}
