import { expect, test } from "vitest";
import { isAtLeast, SITE_VERDICTS, type SiteVerdict, siteReportKey, siteReportPageKey, worstVerdict } from "./site-report.ts";

test("N5 verdicts are any, prefix-with-shim, host-only, broken, the best first", () => {
  const enough = SITE_VERDICTS.map((required) => SITE_VERDICTS.filter((verdict) => isAtLeast(verdict, required)));
  expect(enough).toEqual([
    ["any"],
    ["any", "prefix-with-shim"],
    ["any", "prefix-with-shim", "host-only"],
    ["any", "prefix-with-shim", "host-only", "broken"],
  ]);
});

test.each<[readonly (SiteVerdict | null)[], SiteVerdict | null]>([
  [["any"], "any"],
  [["any", "host-only", "prefix-with-shim"], "host-only"],
  [["broken", null], null],
])("N5 of %o the worst is %s", (verdicts, worst) => {
  expect(worstVerdict(verdicts.map((verdict) => ({ verdict })))).toBe(worst);
});

test("N5 a report lies beside its env's record, and its page beside it", () => {
  expect([siteReportKey("local/shop-0123", 3), siteReportPageKey("local/shop-0123", 3)]).toEqual([
    "checks/local/shop-0123/3/site.json",
    "checks/local/shop-0123/3/site.html",
  ]);
});
