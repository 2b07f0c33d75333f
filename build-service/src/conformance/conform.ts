import {
  CONFORMANCE_GROUPS,
  type ConformanceCheck,
  type ConformanceGroup,
  type ConformanceLevel,
  type ConformanceReport,
  type ConformanceSubject,
  type Part,
} from "@agent-env/protocol";
import { CARD_ANSWER_CHECKS } from "./card-answer-checks.ts";
import { type Check, shownRequest, skipped, type Verdict } from "./check.ts";
import { CHECKS } from "./checks.ts";
import { ANSWER_MS, NoAnswer } from "./http.ts";
import { servicesOf } from "./services.ts";
import { type Opened, openSubject, type SubjectOptions, subjectOf } from "./subject.ts";

export type ConformanceOptions = {
  /** `required` leaves the recommended checks out. */
  readonly level: ConformanceLevel;
  /** Leaves out what changes data or rules. */
  readonly readOnly: boolean;
  /** Left out: all. */
  readonly groups?: readonly ConformanceGroup[];
  /** Data to load; null: what the environment itself gives. */
  readonly seed: readonly Part[] | null;
  /** Who asks: on a deployment with tokens `authorization`. Never shown. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Told as it goes on. */
  readonly watch?: ConformanceWatch;
};

export type ConformanceWatch = {
  subject(subject: Omit<ConformanceSubject, "checks" | "notes">): void;
  /** A check begins, which may take its time. */
  begins(check: Pick<ConformanceCheck, "id" | "group" | "title">): void;
  check(check: ConformanceCheck): void;
  note(note: string): void;
};

/**
 * Checks what runs at an address: an environment's server, one through a gateway (`…/svc/<key>`), or a gateway, and then each
 * of its servers too. Throws a UserError when nothing can be checked there at all.
 */
export async function checkConformance(url: string, options: ConformanceOptions): Promise<ConformanceReport> {
  const opened = await openSubject(url, options);
  const subjects = [await checkedSubject(opened, options)];
  if (opened.kind === "gateway" && opened.card !== null) {
    for (const { key } of servicesOf(opened.card)) {
      subjects.push(await checkedSubject(await openSubject(`${opened.url}/svc/${key}`, options), options));
    }
  }
  const checks = subjects.flatMap((subject) => subject.checks);
  const count = (outcome: ConformanceCheck["outcome"]) => checks.filter((check) => check.outcome === outcome).length;
  return {
    format_version: 1,
    url: opened.url,
    level: options.level,
    read_only: options.readOnly,
    passed: count("passed"),
    failed: count("failed"),
    skipped: count("skipped"),
    conforms: !checks.some(({ level, outcome }) => level === "required" && outcome === "failed"),
    subjects,
  };
}

type Planned = Pick<Check, "id" | "group" | "level" | "title"> & { run(): Promise<Verdict> | Verdict };

async function checkedSubject(opened: Opened, options: ConformanceOptions): Promise<ConformanceSubject> {
  const { url, kind, card, answer } = opened;
  const about = { url, kind, name: card?.name ?? null };
  options.watch?.subject(about);
  const { planned, end } = plannedChecks(opened, options);
  const asked = [...CARD_ANSWER_CHECKS.map((check) => ({ ...check, run: () => check.run(answer) })), ...planned];
  const checks: ConformanceCheck[] = [];
  const trouble = new Trouble();
  for (const check of inOrder(asked.filter((one) => isAsked(one, options)))) {
    const { id, group, title } = check;
    options.watch?.begins({ id, group, title });
    const made = await madeCheck(check, trouble, options.signal);
    checks.push(made);
    options.watch?.check(made);
  }
  const notes = await end();
  for (const note of notes) options.watch?.note(note);
  return { ...about, checks, notes };
}

/** What is checked of a subject besides its card's answer. Without a card there is nothing that says where to ask. */
function plannedChecks(opened: Opened, options: SubjectOptions): { readonly planned: readonly Planned[]; end(): Promise<string[]> } {
  const { card, kind } = opened;
  const suited = CHECKS.filter(({ on = ["server", "service"] }) => on.includes(kind));
  if (card === null) {
    const reason = "the card can't be read: card-served and card-fields say why";
    return { planned: suited.map((check) => ({ ...check, run: () => skipped(reason) })), end: async () => [] };
  }
  const { subject, end } = subjectOf(opened, card, options);
  const leftOut = skipped("changes data or rules, which --read-only leaves as they are");
  const planned = suited.map((check) => ({ ...check, run: () => (check.changes && options.readOnly ? leftOut : check.run(subject)) }));
  return { planned, end };
}

function isAsked({ level, group }: Planned, options: ConformanceOptions): boolean {
  return (options.level === "recommended" || level === "required") && (options.groups?.includes(group) ?? true);
}

function inOrder(checks: readonly Planned[]): Planned[] {
  return CONFORMANCE_GROUPS.flatMap((group) => checks.filter((check) => check.group === group));
}

async function madeCheck({ id, group, level, title, run }: Planned, trouble: Trouble, signal: AbortSignal): Promise<ConformanceCheck> {
  const started = performance.now();
  const verdict = await trouble.verdictOf(run, signal);
  const about = { id, group, level, title, seconds: Math.round(performance.now() - started) / 1000 };
  switch (verdict.is) {
    case "passed":
      return { ...about, outcome: "passed" };
    case "skipped":
      return { ...about, outcome: "skipped", reason: verdict.reason };
    case "failed": {
      const { sent, expected, got, fix } = verdict;
      return { ...about, outcome: "failed", sent, expected, got, fix };
    }
  }
}

const MOST_SILENT = 3;

/** Requests of a subject that got no answer. */
class Trouble {
  readonly #known = new Set<NoAnswer>();
  #inARow = 0;

  /**
   * A request without an answer fails the check that made it. What others wanted to know by it, they can't: they are skipped.
   * So are all, once it seems that nothing is answered any more.
   */
  async verdictOf(run: Planned["run"], signal: AbortSignal): Promise<Verdict> {
    if (this.#inARow >= MOST_SILENT) return skipped("it doesn't answer any more");
    try {
      const verdict = await run();
      if (verdict.is !== "skipped") this.#inARow = 0;
      return verdict;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof NoAnswer)) throw error;
      const asked = shownRequest(error.sent);
      if (this.#known.has(error)) return skipped(`there was no answer to ${asked}: an earlier check says so`);
      this.#known.add(error);
      this.#inARow++;
      return { is: "failed", sent: asked, expected: "an answer", got: error.message, fix: `answer it, within ${ANSWER_MS / 1000} s` };
    }
  }
}
