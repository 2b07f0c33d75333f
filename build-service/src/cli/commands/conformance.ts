import { resolve } from "node:path";
import { CONFORMANCE_LEVELS, type ConformanceLevel, UserError } from "@agent-env/protocol";
import { Option } from "commander";
import { type ConformanceWatch, checkConformance } from "../../conformance/conform.ts";
import { junitXml } from "../../conformance/junit.ts";
import { checkLines, subjectLine, summaryLine } from "../../conformance/report-lines.ts";
import { seedIn } from "../../conformance/seed.ts";
import { printable } from "../../report/printable.ts";
import type { AddCommand } from "../cli.ts";
import type { CommonOptions, Io } from "../io.ts";

type Options = CommonOptions & {
  readonly level: ConformanceLevel;
  readonly token?: string;
  readonly readOnly?: boolean;
  readonly seed?: string;
  readonly junit?: boolean;
};

/** Whether what runs at an address keeps the protocol (W5). Exit code 1 if a required check failed. */
export const conformanceCommand: AddCommand = (parent, io, end) => {
  parent
    .command("conformance")
    .description("check whether a running environment keeps the protocol; resets its data unless --read-only")
    .argument("<url>", "address of an MCP server, a website's backend, /svc/<name> of a gateway, or a gateway")
    .addOption(
      new Option("--level <level>", "the checks to make: required ones only, or recommended ones too")
        .choices(CONFORMANCE_LEVELS)
        .default("recommended"),
    )
    .option("--token <token>", "for a deployment that asks for one: agent-env gateway token --preset grader")
    .option("--read-only", "leave out what changes data or rules")
    .option("--seed <file>", "data to load where the environment holds none of its own")
    .option("--junit", "print JUnit XML, for programs")
    .action(async (url: string, options: Options) => {
      const address = addressOf(url);
      if (options.json && options.junit) throw twoForms();
      const watch = options.json || options.junit ? null : printing(io, options, address);
      const report = await checkConformance(address, {
        level: options.level,
        readOnly: options.readOnly === true,
        seed: options.seed === undefined ? null : seedIn(resolve(io.cwd, options.seed)),
        headers: options.token === undefined ? {} : { authorization: `Bearer ${options.token}` },
        signal: io.signal,
        ...(watch === null ? {} : { watch }),
      }).finally(() => watch?.end());
      if (options.json) io.out.write(`${JSON.stringify(report, null, 2)}\n`);
      else if (options.junit) io.out.write(junitXml(report));
      else io.out.write(`${summaryLine(report)}\n`);
      end(report.conforms ? 0 : 1);
    });
};

/** What takes longer is said to be waited for. */
const SAY_EVERY_MS = 10_000;

/** Prints each check when it has been made, and before that what is waited for. `end` when nothing is any more. */
function printing(io: Io, { readOnly }: Options, url: string): ConformanceWatch & { end(): void } {
  let group = "";
  let saying = waitingFor(`${url}: its card`);
  function waitingFor(what: string): NodeJS.Timeout {
    const since = performance.now();
    return setInterval(() => {
      io.err.write(`waiting for ${printable(what)} (${Math.round((performance.now() - since) / 1000)} s)\n`);
    }, SAY_EVERY_MS);
  }
  function nowFor(what: string): void {
    clearInterval(saying);
    saying = waitingFor(what);
  }
  return {
    end: () => clearInterval(saying),
    subject(subject) {
      group = "";
      io.out.write(`${subjectLine(subject)}\n`);
      if (!readOnly && subject.kind !== "gateway") {
        io.out.write("what data it holds is reset, and loaded again from what data/get gives; --read-only leaves it alone\n");
      }
    },
    begins(check) {
      if (check.group !== group) io.out.write(`${check.group}\n`);
      group = check.group;
      nowFor(`${check.id}: ${check.title}`);
    },
    check(check) {
      nowFor(`what comes after ${check.id}`);
      io.out.write(`${checkLines(check)}\n`);
    },
    note: (note) => io.out.write(`note: ${printable(note)}\n`),
  };
}

function addressOf(text: string): string {
  const url = URL.parse(text);
  const isPlain =
    url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "" && url.username === "" && url.password === "";
  if (url !== null && isPlain) return url.href;
  const shown = text.replace(/\/\/[^/]*@/, "//…@");
  throw new UserError({
    what: `${JSON.stringify(shown)}: no address to check`,
    why: "it takes an http or https URL without user, query and fragment",
    next: "agent-env conformance http://localhost:8000",
    exitCode: 2,
  });
}

function twoForms(): UserError {
  return new UserError({
    what: "--json and --junit: only one of them",
    why: "both say what standard output is to hold",
    next: "leave one of them out",
    exitCode: 2,
  });
}
