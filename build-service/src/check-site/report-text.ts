import type { CheckedSite, SiteFinding, SiteReport, SiteWalk } from "@agent-env/protocol";
import { isPath } from "./walk-record.ts";

/** A report for a terminal: each site's verdict, then what was found. */
export function reportText(report: SiteReport): string {
  return report.sites.map(siteText).join("\n\n");
}

/** What a verdict means to who offers the site. */
export const MEANING: Readonly<Record<NonNullable<CheckedSite["verdict"]>, string>> = {
  any: "works on a host of its own and under a prefix",
  "prefix-with-shim": "works on a host of its own, and under a prefix because the gateway rewrites its pages",
  "host-only": "works on a host of its own only",
  broken: "fails on a host of its own too: the site, not the gateway",
};

/** A finding's place, as `app.js:1:2043`; empty where there is none. */
export function shownPlace({ at }: Pick<SiteFinding, "at">): string {
  return at === null ? "" : `${at.file}:${at.line}:${at.column}`;
}

function siteText({ site, verdict, reasons, findings, notes, host, prefix }: CheckedSite): string {
  const opened = [
    ...(host === null ? [] : [`${pagesIn(host)} in host mode`]),
    ...(prefix === null ? [] : [`${pagesIn(prefix)} under the prefix`]),
  ];
  const cut = [host?.cut_short, prefix?.cut_short].find((why) => why !== null && why !== undefined);
  return [
    `${site}: ${verdict === null ? "no verdict, since it was opened in one mode" : `${verdict}: ${MEANING[verdict]}`}`,
    `  pages: ${opened.join(", ")}${cut === undefined ? "" : ` (not all: ${cut})`}`,
    ...(findings.length === 0 ? reasons.map((reason) => `  ${reason}`) : findings.flatMap(findingLines)),
    ...notes.map((note) => `  note: ${note}`),
  ].join("\n");
}

/** Without what the lines of an act script have left. */
function pagesIn({ pages }: SiteWalk): number {
  return pages.filter(({ path }) => isPath(path)).length;
}

function findingLines(finding: SiteFinding): string[] {
  const { kind, page, pages, text, layer, advice } = finding;
  const where = shownPlace(finding);
  const more = pages === 1 ? "" : ` and ${pages - 1} more`;
  return [
    `  ${kind}: ${text}${where === "" ? "" : ` (${where})`}`,
    `    on ${page}${more}; ${layer === null ? "no layer of the gateway's reaches it" : `${layer} should have caught it`}`,
    `    Next: ${advice}`,
  ];
}
