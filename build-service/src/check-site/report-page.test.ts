import type { SiteReport } from "@agent-env/protocol";
import { expect, test } from "vitest";
import { reportPage } from "./report-page.ts";
import { reportText } from "./report-text.ts";

const walk = (path: string) => ({
  address: "http://x/",
  pages: [{ path, title: "<script>alert(1)</script>", status: 200, requests: 2, failed: 1 }],
  cut_short: null,
  elsewhere: ['http://"cdn".example'],
  seconds: 1.5,
});
const REPORT: SiteReport = {
  format_version: 1,
  agent_env_version: "0.1.0",
  checked_at: "2026-03-01T09:00:00Z",
  browser: "Chromium 1",
  env: { id: "<shop>", version: 2 },
  address: null,
  options: { pages: 30, acts: null },
  sites: [
    {
      site: "shop",
      images: null,
      verdict: "host-only",
      reasons: [],
      findings: [
        {
          kind: "escape",
          mode: "prefix",
          page: "/a&b",
          pages: 3,
          text: "fetch /<b> left the prefix",
          at: { file: "app.js", line: 1, column: 2043 },
          layer: "L4",
          advice: 'write "api"',
        },
      ],
      notes: ["<i>"],
      host: walk("/"),
      prefix: walk("line 1"),
    },
  ],
};

test("N5 the page of a report holds no markup of a site's, and needs nothing but itself", () => {
  const page = reportPage(REPORT);
  expect(page).toContain("<td>fetch /&lt;b&gt; left the prefix <code>app.js:1:2043</code></td><td>L4</td><td>write &quot;api&quot;</td>");
  expect(page).toContain("<td>&lt;script&gt;alert(1)&lt;/script&gt;</td>");
  expect(
    page.replaceAll(
      /<\/?(?:!doctype|html|head|meta|title|style|body|h[123]|p|small|section|span|table|tr|t[dh]|code|br|ul|li)\b[^<>]*>/g,
      "",
    ),
  ).not.toMatch(/[<>]/);
  expect(page).not.toMatch(/<[^>]*\b(?:src|href)=/);
});

test("N5 a report's text says where each finding is, which layer should have caught it, and what to do", () => {
  expect(reportText(REPORT)).toBe(
    [
      "shop: host-only: works on a host of its own only",
      "  pages: 1 in host mode, 0 under the prefix",
      "  escape: fetch /<b> left the prefix (app.js:1:2043)",
      "    on /a&b and 2 more; L4 should have caught it",
      '    Next: write "api"',
      "  note: <i>",
    ].join("\n"),
  );
});
