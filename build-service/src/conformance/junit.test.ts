import type { ConformanceCheck } from "@agent-env/protocol";
import { expect, test } from "vitest";
import { junitXml } from "./junit.ts";

test("W5 JUnit XML: a suite for each subject, a case for each check, nothing that XML can't hold", () => {
  const about = { group: "card", title: "it's <there>", seconds: 0.5 } as const;
  const failure = { sent: 'GET /"x"', expected: "a & b", got: "\u0000\u001b[2J", fix: "two\nlines" };
  const checks: ConformanceCheck[] = [
    { ...about, id: "one", level: "required", outcome: "passed" },
    { ...about, id: "two", level: "recommended", outcome: "skipped", reason: "no <card>" },
    { ...about, id: "three", level: "recommended", outcome: "failed", ...failure },
    { ...about, id: "four", level: "required", outcome: "failed", ...failure },
  ];
  const xml = junitXml({
    format_version: 1,
    url: "http://h/",
    level: "recommended",
    read_only: false,
    passed: 1,
    failed: 2,
    skipped: 1,
    conforms: false,
    subjects: [{ url: "http://h/", kind: "server", name: "shop", checks, notes: [] }],
  });
  expect(xml).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="agent-env conformance http://h/">
  <testsuite name="http://h/" tests="4" failures="1" skipped="2" time="2.000">
    <testcase classname="card" name="one: it's &lt;there&gt;" time="0.5"/>
    <testcase classname="card" name="two: it's &lt;there&gt;" time="0.5"><skipped message="no &lt;card&gt;"/></testcase>
    <testcase classname="card" name="three: it's &lt;there&gt;" time="0.5"><skipped message="recommended: expected a &amp; b, got [2J; two&#10;lines"/></testcase>
    <testcase classname="card" name="four: it's &lt;there&gt;" time="0.5"><failure message="expected a &amp; b, got [2J">sent: GET /&quot;x&quot;&#10;expected: a &amp; b&#10;got: [2J&#10;fix: two&#10;lines</failure></testcase>
  </testsuite>
</testsuites>
`);
});
