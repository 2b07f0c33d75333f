import { z } from "zod";

/** How a site can be served, the best first (7-sites §6). */
export const SITE_VERDICTS = ["any", "prefix-with-shim", "host-only", "broken"] as const;
export const SiteVerdict = z.enum(SITE_VERDICTS);
export type SiteVerdict = z.infer<typeof SiteVerdict>;

/** A site on a host of its own, or under `/website/<name>/`. */
export const SiteMode = z.enum(["host", "prefix"]);
export type SiteMode = z.infer<typeof SiteMode>;

/** What is found wrong with a site in a mode. */
export const SITE_FINDINGS = [
  "escape",
  "wrong-asset",
  "failed-load",
  "redirect-loop",
  "doubled-prefix",
  "lost-navigation",
  "cookie-outside",
  "cookie-lost",
  "service-worker",
  "socket",
  "event-source",
  "console-error",
  "text-differs",
  "missing",
  "act-failed",
  "policy",
] as const;
export type SiteFindingKind = (typeof SITE_FINDINGS)[number];

/** Lines and columns count from 1. */
export const SitePlace = z.object({
  file: z.string().describe("The site's file, without the site's address"),
  line: z.int().positive(),
  column: z.int().positive(),
});
export type SitePlace = z.infer<typeof SitePlace>;

export const SiteFinding = z.object({
  kind: z.enum(SITE_FINDINGS),
  mode: SiteMode,
  page: z.string().describe("The path of the first page that it was found on"),
  pages: z.int().positive().describe("On how many pages it was found"),
  text: z.string(),
  at: SitePlace.nullable().describe("Where it is written, where the browser says so"),
  layer: z.enum(["L1", "L2", "L3", "L4", "L5"]).nullable().describe("The layer of prefix mode that should have caught it; null: none can"),
  advice: z.string().describe("What the site's author can do"),
});
export type SiteFinding = z.infer<typeof SiteFinding>;

/** What a walk saw. */
export const SiteWalk = z.object({
  address: z.string().describe("Where the site was served during the check"),
  pages: z.array(
    z.object({
      path: z.string(),
      title: z.string(),
      status: z.int().nullable(),
      requests: z.int().nonnegative(),
      failed: z.int().nonnegative(),
    }),
  ),
  cut_short: z.string().nullable().describe("Why not all pages were opened"),
  elsewhere: z.array(z.string()).describe("Addresses of other hosts that its pages asked for; none was reached"),
  seconds: z.number().nonnegative(),
});
export type SiteWalk = z.infer<typeof SiteWalk>;

export const CheckedSite = z.object({
  site: z.string(),
  images: z.string().nullable().describe("A digest of the images that it runs from; null where they aren't known"),
  verdict: SiteVerdict.nullable().describe("Null where it was not opened in both modes"),
  reasons: z.array(z.string()).describe("Why the verdict isn't better"),
  findings: z.array(SiteFinding),
  notes: z.array(z.string()).describe("What is no reason against the site in a mode"),
  host: SiteWalk.nullable(),
  prefix: SiteWalk.nullable(),
});
export type CheckedSite = z.infer<typeof CheckedSite>;

/** What `agent-env check-site --json` prints, and the store keeps beside an env's record (7-sites §6). */
export const SiteReport = z.object({
  format_version: z.literal(1),
  agent_env_version: z.string(),
  checked_at: z.string().describe("RFC 3339, to the second"),
  browser: z.string(),
  env: z.object({ id: z.string(), version: z.int().positive() }).nullable(),
  address: z.string().nullable().describe("What was checked where that is no env"),
  options: z
    .object({ pages: z.int().positive(), acts: z.string().nullable() })
    .describe("How many pages were opened at most, and the sha256 of the act script"),
  sites: z.array(CheckedSite).min(1),
});
export type SiteReport = z.infer<typeof SiteReport>;

/** Whether a verdict is as good as another one, or better. */
export function isAtLeast(verdict: SiteVerdict, required: SiteVerdict): boolean {
  return SITE_VERDICTS.indexOf(verdict) <= SITE_VERDICTS.indexOf(required);
}

/** The worst verdict of a report's sites; null where one of them has none. */
export function worstVerdict(sites: readonly Pick<CheckedSite, "verdict">[]): SiteVerdict | null {
  if (sites.some(({ verdict }) => verdict === null)) return null;
  return SITE_VERDICTS.findLast((worse) => sites.some(({ verdict }) => verdict === worse)) ?? null;
}

/** Where the store keeps the reports of an env, and one version's report and page (4-bundle §11.1). */
export const siteReportsPrefix = (encodedId: string): string => `checks/${encodedId}/`;
export const siteReportKey = (encodedId: string, version: number): string => `${siteReportsPrefix(encodedId)}${version}/site.json`;
export const siteReportPageKey = (encodedId: string, version: number): string => `${siteReportsPrefix(encodedId)}${version}/site.html`;

/**
 * Asks a gateway to leave a site's pages as they are under a prefix: only the headers of its answers are put there (7-sites §2,
 * L1). So a check finds out whether a site needs more.
 */
export const SITE_LAYERS_HEADER = "AgentEnv-Site-Layers";
export const HEADERS_ONLY = "L1";
