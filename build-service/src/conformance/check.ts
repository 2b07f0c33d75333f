import type { Card, ConformanceGroup, ConformanceLevel, JsonObject, Part } from "@agent-env/protocol";
import type { Exchange, Http, Sent } from "./http.ts";

/** What a check comes to. */
export type Verdict =
  | { readonly is: "passed" }
  | { readonly is: "skipped"; readonly reason: string }
  | { readonly is: "failed"; readonly sent: string; readonly expected: string; readonly got: string; readonly fix: string };

/** An environment's server, one reached through a gateway (`/svc/<key>`), or a gateway itself. */
export type SubjectKind = "server" | "service" | "gateway";

/** What is being checked, with its card read. */
export type Subject = {
  readonly kind: SubjectKind;
  /** Asks below its address. */
  readonly http: Http;
  readonly card: Card;
  /** The gateway that it was reached through, and its key there. */
  readonly through: { readonly http: Http; readonly key: string } | null;
  /** Nothing is asked that could change data or rules. */
  readonly readOnly: boolean;
  /** Data to load, where the caller gave some. */
  readonly seed: readonly Part[] | null;
  /** Done when all checks of the subject have been made, the last first. Gives what a person has to know of it, if anything. */
  atEnd(action: () => Promise<string | null>): void;
};

type Named = { readonly id: string; readonly group: ConformanceGroup; readonly level: ConformanceLevel; readonly title: string };

/** One promise of the protocol, and how it is tried. */
export type Check = Named & {
  /** Left out: servers, however they are reached. */
  readonly on?: readonly SubjectKind[];
  /** It changes data or rules, and puts them back as far as that goes: left out of a read-only check. */
  readonly changes?: true;
  run(subject: Subject): Promise<Verdict> | Verdict;
};

/** A promise about the answer on the card path itself. `raw` is the JSON object in it, if there is one. */
export type CardAnswer = { readonly http: Http; readonly answer: Exchange; readonly raw: JsonObject | null };
export type CardAnswerCheck = Named & { run(card: CardAnswer): Promise<Verdict> | Verdict };

export const passed: Verdict = { is: "passed" };

export function skipped(reason: string): Verdict {
  return { is: "skipped", reason };
}

/** A check that an exchange failed: what had to come instead, and what mends it. `got` where the answer doesn't show it by itself. */
export function failed(exchange: Exchange, { expected, fix, got }: { expected: string; fix: string; got?: string }): Verdict {
  return { is: "failed", sent: shownRequest(exchange.sent), expected, got: got ?? shownAnswer(exchange), fix };
}

/** A check that failed without a request of its own. */
export function failedWithout(failure: { sent: string; expected: string; got: string; fix: string }): Verdict {
  return { is: "failed", ...failure };
}

/** The first verdict that isn't passed. */
export async function allOf(parts: Iterable<() => Promise<Verdict> | Verdict>): Promise<Verdict> {
  for (const part of parts) {
    const verdict = await part();
    if (verdict.is !== "passed") return verdict;
  }
  return passed;
}

const SHOWN = 400;
/** Fields that say nothing of a request's own. */
const PLAIN = ["content-type", "accept"];

/** A request on one line. */
export function shownRequest({ method, target, headers, body }: Sent): string {
  const fields = Object.entries(headers)
    .filter(([name]) => !PLAIN.includes(name.toLowerCase()))
    .map(([name, value]) => ` ${name}: ${value};`);
  const shown = body === null ? "" : body === "" ? " with an empty body" : ` ${cut(body)}`;
  return `${method} ${target}${fields.join("").replace(/;$/, "")}${shown}`;
}

/** An answer on one line. */
function shownAnswer({ status, type, text }: Exchange): string {
  return [`HTTP ${status}`, type, cut(text)].filter((part) => part !== "").join(" ");
}

/** One line of a text, cut where it is long. */
export function cut(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length <= SHOWN ? line : `${line.slice(0, SHOWN)}… (${line.length} characters)`;
}
