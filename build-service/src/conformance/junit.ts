import type { ConformanceCheck, ConformanceReport } from "@agent-env/protocol";

/**
 * The report as JUnit XML: a suite for each subject, a case for each check. A recommended check that failed is skipped there
 * with its reason, since it doesn't fail the whole.
 */
export function junitXml({ url, subjects }: ConformanceReport): string {
  const suites = subjects.map(({ url: at, checks }) => {
    const cases = checks.map(caseOf);
    const count = (tag: string) => cases.filter((one) => one.includes(`<${tag} `)).length;
    const seconds = checks.reduce((sum, check) => sum + check.seconds, 0).toFixed(3);
    const figures = `tests="${checks.length}" failures="${count("failure")}" skipped="${count("skipped")}" time="${seconds}"`;
    return [`  <testsuite name="${escaped(at)}" ${figures}>`, ...cases, "  </testsuite>"].join("\n");
  });
  const head = `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="agent-env conformance ${escaped(url)}">`;
  return `${[head, ...suites, "</testsuites>"].join("\n")}\n`;
}

function caseOf(check: ConformanceCheck): string {
  const open = `    <testcase classname="${escaped(check.group)}" name="${escaped(`${check.id}: ${check.title}`)}" time="${check.seconds}"`;
  switch (check.outcome) {
    case "passed":
      return `${open}/>`;
    case "skipped":
      return `${open}><skipped message="${escaped(check.reason)}"/></testcase>`;
    case "failed": {
      const { level, sent, expected, got, fix } = check;
      if (level === "recommended")
        return `${open}><skipped message="${escaped(`recommended: expected ${expected}, got ${got}; ${fix}`)}"/></testcase>`;
      const details = `sent: ${sent}\nexpected: ${expected}\ngot: ${got}\nfix: ${fix}`;
      return `${open}><failure message="${escaped(`expected ${expected}, got ${got}`)}">${escaped(details)}</failure></testcase>`;
    }
  }
}

const NAMED: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;" };

/** Text for an attribute or an element. What XML 1.0 has no way to hold is left out. */
function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
  const held = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/gu, "");
  return held.replace(/[&<>"\n]/g, (char) => NAMED[char] ?? char);
}
