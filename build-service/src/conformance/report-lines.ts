import type { ConformanceCheck, ConformanceReport, ConformanceSubject } from "@agent-env/protocol";
import { printable } from "../report/printable.ts";

const ID_WIDTH = 22;

/** What stands above a subject's checks. */
export function subjectLine({ url, kind, name }: Pick<ConformanceSubject, "url" | "kind" | "name">): string {
  const what = { server: "server", service: "server behind a gateway", gateway: "gateway" }[kind];
  return printable(`${url}: ${what}${name === null ? ", whose card can't be read" : ` ${JSON.stringify(name)}`}`);
}

/** A check's line, and below a failed one what was sent, expected, got, and what mends it. */
export function checkLines(check: ConformanceCheck): string {
  const what = check.outcome === "skipped" ? check.reason : check.title;
  const line = `  ${check.outcome.padEnd(7)}  ${check.level.padEnd(11)}  ${check.id.padEnd(ID_WIDTH)}  ${what}`;
  if (check.outcome !== "failed") return oneLine(line);
  const { sent, expected, got, fix } = check;
  const details = Object.entries({ sent, expected, got, fix }).map(([name, text]) => `      ${name.padEnd(8)}  ${text}`);
  return [line, ...details].map(oneLine).join("\n");
}

/** The last line: figures, and whether it conforms. */
export function summaryLine({ passed, failed, skipped, conforms, subjects }: ConformanceReport): string {
  const figures = `${passed} passed, ${failed} failed, ${skipped} skipped`;
  if (failed === 0) return `${figures}: it conforms`;
  const required = subjects
    .flatMap(({ checks }) => checks)
    .filter(({ level, outcome }) => level === "required" && outcome === "failed").length;
  return conforms
    ? `${figures}: it conforms; what failed is recommended`
    : `${figures}: it doesn't conform, ${required} of the failed ${required === 1 ? "is" : "are"} required`;
}

function oneLine(text: string): string {
  return printable(text).replaceAll("\n", " ");
}
