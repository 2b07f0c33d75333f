import type { CheckedSite, SiteFinding, SiteReport, SiteWalk } from "@agent-env/protocol";
import { MEANING, shownPlace } from "./report-text.ts";

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1b1f}
h1{font-size:1.4rem}h2{margin-top:2.5rem}table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;padding:.3rem .8rem .3rem 0;border-top:1px solid #ddd}
code{background:#f2f2f4;padding:0 .2em}.verdict{font-weight:600;padding:.1em .6em;border-radius:1em;background:#e6e6ea}
.any{background:#d8f3dc}.prefix-with-shim{background:#e3f0d3}.host-only{background:#fdebc8}.broken{background:#f9d2d2}small{color:#5b5b66}`;

/** A report as one page that needs nothing but itself. */
export function reportPage(report: SiteReport): string {
  const { env, address, checked_at, browser, agent_env_version } = report;
  const about = env === null ? (address ?? "") : `${env.id} v${env.version}`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escaped(`Sites of ${about}`)}</title><style>${STYLE}</style></head>
<body><h1>Sites of ${escaped(about)}</h1>
<p><small>Checked ${escaped(checked_at)} by agent-env ${escaped(agent_env_version)} with ${escaped(browser)}.</small></p>
${report.sites.map(siteSection).join("\n")}
</body></html>
`;
}

function siteSection({ site, verdict, reasons, findings, notes, host, prefix }: CheckedSite): string {
  const head = verdict === null ? "opened in one mode only: no verdict" : MEANING[verdict];
  return `<section><h2>${escaped(site)} ${verdict === null ? "" : `<span class="verdict ${verdict}">${verdict}</span>`}</h2>
<p>${escaped(head)}</p>
${findings.length === 0 ? list(reasons) : findingsTable(findings)}
${notes.length === 0 ? "" : `<h3>Notes</h3>${list(notes)}`}
${walkTable("On a host of its own", host)}${walkTable("Under a prefix", prefix)}</section>`;
}

function findingsTable(findings: readonly SiteFinding[]): string {
  const rows = findings.map((finding) => {
    const { kind, mode, page, pages, text, layer, advice } = finding;
    const place = shownPlace(finding);
    const where = `${escaped(page)}${pages === 1 ? "" : ` and ${pages - 1} more`}`;
    return `<tr><td>${kind}<br><small>${mode} mode</small></td><td>${where}</td><td>${escaped(text)}${place === "" ? "" : ` <code>${escaped(place)}</code>`}</td><td>${layer ?? "none"}</td><td>${escaped(advice)}</td></tr>`;
  });
  return `<table><tr><th>Finding</th><th>Page</th><th>What happened</th><th>Layer</th><th>What you can do</th></tr>${rows.join("\n")}</table>`;
}

function walkTable(title: string, walk: SiteWalk | null): string {
  if (walk === null) return "";
  const { pages, seconds, cut_short, elsewhere } = walk;
  const rows = pages.map(
    ({ path, title: page, status, requests, failed }) =>
      `<tr><td><code>${escaped(path)}</code></td><td>${escaped(page)}</td><td>${status ?? ""}</td><td>${requests}</td><td>${failed}</td></tr>`,
  );
  return `<h3>${title}</h3><p><small>${seconds} s${cut_short === null ? "" : `; not all pages: ${escaped(cut_short)}`}</small></p>
<table><tr><th>Page</th><th>Title</th><th>Status</th><th>Requests</th><th>Failed</th></tr>${rows.join("\n")}</table>
${elsewhere.length === 0 ? "" : `<p>Other hosts that it asked for, which were not reached: ${escaped(elsewhere.join(", "))}</p>`}`;
}

function list(lines: readonly string[]): string {
  return lines.length === 0 ? "" : `<ul>${lines.map((line) => `<li>${escaped(line)}</li>`).join("")}</ul>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
