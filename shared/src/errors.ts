import type { ProblemCode } from "./problem-codes.ts";

/** Something that the person at the keyboard can mend. Whatever else is thrown is a bug of ours. */
export class UserError extends Error {
  readonly why: string;
  readonly next: string;
  readonly exitCode: 1 | 2;

  /**
   * `what` starts with the path, address or option it is about. `next` is one sentence or one command. Exit code 1 is
   * "refused or failed", 2 "the command line or this machine isn't right".
   */
  constructor(problem: { what: string; why: string; next: string; exitCode?: 1 | 2 }, options?: ErrorOptions) {
    super(problem.what, options);
    this.name = "UserError";
    this.why = problem.why;
    this.next = problem.next;
    this.exitCode = problem.exitCode ?? 1;
  }
}

/** One thing that is wrong in a bundle or with a planned deploy. Printed as `<path>: <message>`. */
export type Problem = {
  readonly code: ProblemCode;
  /** Relative to the bundle, with `/`, in NFC, followed by the place in the file where there is one. */
  readonly path: string;
  readonly message: string;
};

/** A command that ends because of problems. Nothing was built, written or started. */
export class Refused extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(`${problems.length} ${problems.length === 1 ? "problem" : "problems"}`);
    this.name = "Refused";
    this.problems = sortedProblems(problems);
  }
}

/** The problems without repeats, sorted as text, so that a report is the same everywhere. */
export function sortedProblems(problems: readonly Problem[]): Problem[] {
  const byLine = new Map(problems.map((problem) => [problemLine(problem), problem]));
  return [...byLine.entries()].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, problem]) => problem);
}

/** The one line that shows a problem to a person. */
export function problemLine(problem: Problem): string {
  return `${problem.path}: ${problem.message}`;
}
