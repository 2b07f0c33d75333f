import { CARD_PATH, Card, type JsonObject, type Part, UserError } from "@agent-env/protocol";
import { objectIn } from "./card-answer-checks.ts";
import type { CardAnswer, Subject, SubjectKind } from "./check.ts";
import { Http, NoAnswer } from "./http.ts";
import { serviceAddress, serviceOfPage } from "./services.ts";

/** What is said of one address before anything is checked. */
export type Opened = {
  readonly url: string;
  readonly answer: CardAnswer;
  readonly kind: SubjectKind;
  /** The card, null where it can't be read: then only its answer can be checked. */
  readonly card: Card | null;
  readonly through: Subject["through"];
};

export type OpenOptions = { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal };

/** Reads the card at an address. Throws a UserError where nothing answers, or where the answer is that the caller isn't known. */
export async function openSubject(url: string, { headers, signal }: OpenOptions): Promise<Opened> {
  const http = new Http(url, headers, signal);
  const exchange = await cardAnswer(http);
  const service = exchange.status === 200 && objectIn(exchange.text) !== null ? null : serviceOfPage(http.base);
  if (service !== null) {
    throw new UserError({
      what: `${http.base}: a page of a site, as a gateway shows it to browsers`,
      why: `no card is below it: ${CARD_PATH} was answered with HTTP ${exchange.status}`,
      next: `agent-env conformance ${service}`,
      exitCode: 2,
    });
  }
  if (exchange.status === 401 || exchange.status === 403) {
    throw new UserError({
      what: `${http.base}${CARD_PATH}: HTTP ${exchange.status}`,
      why: "authorization" in headers ? "the token isn't good for it" : "the deployment asks its callers for tokens",
      next: "agent-env gateway token --deployment <id> --preset grader, and give what it prints as --token",
      exitCode: 2,
    });
  }
  const raw = exchange.status === 200 ? objectIn(exchange.text) : null;
  const card = Card.safeParse(raw).data ?? null;
  const address = serviceAddress(http.base);
  const through = address === null ? null : { http: http.at(address.gateway), key: address.key };
  return { url: http.base, answer: { http, answer: exchange, raw }, kind: kindOf(raw, through !== null), card, through };
}

async function cardAnswer(http: Http): Promise<CardAnswer["answer"]> {
  try {
    return await http.ask(CARD_PATH, { headers: { accept: "application/json" } });
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    throw new UserError(
      {
        what: `${http.base}${CARD_PATH}: ${error.message}`,
        why: "no environment can be checked that doesn't answer",
        next: "start it, and give the address that its card is served below",
        exitCode: 2,
      },
      { cause: error },
    );
  }
}

/** Only a gateway's card has a list of children, perhaps an empty one (3-wire §card). */
function kindOf(raw: JsonObject | null, isThrough: boolean): SubjectKind {
  if (isThrough) return "service";
  return Array.isArray(raw?.["children_environments"]) ? "gateway" : "server";
}

export type SubjectOptions = { readonly readOnly: boolean; readonly seed: readonly Part[] | null };

/** A subject for its checks, and how they are ended: that gives what a person has to know. */
export function subjectOf(
  { answer, kind, through }: Opened,
  card: Card,
  { readOnly, seed }: SubjectOptions,
): { readonly subject: Subject; end(): Promise<string[]> } {
  const endings: (() => Promise<string | null>)[] = [];
  const subject: Subject = {
    kind,
    http: answer.http,
    card,
    through,
    readOnly,
    seed,
    atEnd: (action) => void endings.unshift(action),
  };
  return { subject, end: () => endedWith(endings) };
}

async function endedWith(endings: readonly (() => Promise<string | null>)[]): Promise<string[]> {
  const notes: string[] = [];
  for (const ending of endings) {
    try {
      const note = await ending();
      if (note !== null) notes.push(note);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      notes.push(`${error.sent.method} ${error.sent.target}: ${error.message}`);
    }
  }
  return notes;
}
