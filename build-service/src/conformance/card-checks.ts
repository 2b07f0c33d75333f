import { Card, DATA_OPERATIONS, isJsonObject } from "@agent-env/protocol";
import { objectIn } from "./card-answer-checks.ts";
import { type Check, cut, failed, failedWithout, passed, type Subject, skipped, type Verdict } from "./check.ts";
import { callName, callsOf, type ExtensionCall, GET_INTERFACES_URI } from "./extensions.ts";

const VERBS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const EVERYWHERE = ["server", "service", "gateway"] as const;

/** What is promised of the card's content (3-wire §card, §ext). */
export const CARD_CHECKS: readonly Check[] = [
  {
    id: "card-capabilities",
    group: "card",
    level: "recommended",
    title: "`capabilities` has at least one key",
    on: EVERYWHERE,
    run: (subject) =>
      Object.keys(subject.card.capabilities).length > 0
        ? passed
        : onCard(subject, {
            expected: "`capabilities` with a key, for example `operations`",
            got: "capabilities {}",
            fix: "list `operations`, even if it is []: a validator of the original takes {} for a missing field",
          }),
  },
  {
    id: "card-operations",
    group: "card",
    level: "required",
    title: "`operations` names methods of the data plane, each once",
    run(subject) {
      const listed = subject.card.capabilities.operations ?? [];
      const known = listed.every((operation) => DATA_OPERATIONS.some((one) => one === operation));
      if (known && new Set(listed).size === listed.length) return passed;
      return onCard(subject, {
        expected: `some of ${DATA_OPERATIONS.join(", ")}, each once`,
        got: `operations ${JSON.stringify(listed)}`,
        fix: "list the methods that the data plane serves, and nothing else",
      });
    },
  },
  {
    id: "card-operations-order",
    group: "card",
    level: "recommended",
    title: "`operations` lists reset, add and get in this order",
    run(subject) {
      const listed = subject.card.capabilities.operations ?? [];
      const ordered = DATA_OPERATIONS.filter((operation) => listed.includes(operation));
      const known = listed.filter((operation) => DATA_OPERATIONS.some((one) => one === operation));
      if (JSON.stringify([...new Set(known)]) === JSON.stringify(ordered)) return passed;
      return onCard(subject, {
        expected: `operations ${JSON.stringify(ordered)}`,
        got: `operations ${JSON.stringify(listed)}`,
        fix: "list them in this order, as every other card does",
      });
    },
  },
  {
    id: "card-tools",
    group: "card",
    level: "required",
    title: "the card names each tool once",
    on: EVERYWHERE,
    run(subject) {
      const names = (subject.card.capabilities.tools ?? []).map(({ name }) => name);
      const wrong = names.filter((name, at) => name === "" || names.indexOf(name) !== at);
      if (wrong.length === 0) return passed;
      return onCard(subject, {
        expected: "tools with names that differ and aren't empty",
        got: `more than once, or empty: ${JSON.stringify(wrong)}`,
        fix: "rename them: callers name a tool by nothing else",
      });
    },
  },
  {
    id: "card-extensions",
    group: "card",
    level: "required",
    title: "each extension is there once and says how it is called",
    on: EVERYWHERE,
    run(subject) {
      const faults = extensionFaults(subject);
      if (faults.length === 0) return passed;
      return onCard(subject, {
        expected: "extensions with a URI of their own, whose calls have an endpoint that starts with / and a verb",
        got: faults.join("; "),
        fix: "correct `capabilities.extensions`: a client appends an endpoint to the address as it is",
      });
    },
  },
  {
    id: "card-endpoints",
    group: "card",
    level: "required",
    title: "each endpoint that an extension names is there",
    changes: true,
    run: (subject) => firstFault(subject, endpointFault),
  },
  {
    id: "card-extension-errors",
    group: "card",
    level: "recommended",
    title: "a call with params that it doesn't take is refused as `invalid_params`",
    changes: true,
    run: (subject) => firstFault(subject, errorFault),
  },
  {
    id: "card-children",
    group: "card",
    level: "required",
    title: "the gateway's card holds its servers' cards, each under a name of its own",
    on: ["gateway"],
    run(subject) {
      const children = subject.card.children_environments ?? [];
      const cards = children.map((child) => Card.safeParse(child));
      const broken = cards.findIndex((read) => !read.success);
      if (broken !== -1) {
        return onCard(subject, {
          expected: "a list of cards",
          got: `children_environments[${broken}]: ${cut(JSON.stringify(children[broken]))}`,
          fix: "leave out what is no card",
        });
      }
      const names = cards.flatMap(({ data }) => (data === undefined ? [] : [data.name]));
      const twice = names.filter((name, at) => names.indexOf(name) !== at);
      if (twice.length === 0) return passed;
      return onCard(subject, {
        expected: "names that differ: a client finds a child by its name",
        got: `more than once: ${JSON.stringify(twice)}`,
        fix: "give each environment an `environment_name` of its own",
      });
    },
  },
];

function onCard({ http }: Subject, failure: { expected: string; got: string; fix: string }): Verdict {
  return failedWithout({ sent: `GET ${new URL(http.base).pathname.replace(/\/$/, "")}/.well-known/agent-env.json`, ...failure });
}

function extensionFaults({ card }: Subject): string[] {
  const extensions = card.capabilities.extensions ?? [];
  const uris = extensions.map(({ uri }) => uri);
  const twice = uris
    .filter((uri, at) => uri === "" || uris.indexOf(uri) !== at)
    .map((uri) => `${JSON.stringify(uri)} more than once, or empty`);
  const calls = extensions.flatMap(callsOf).flatMap((call) => {
    if (call.endpoint === null) return [`${callName(call)} has no endpoint`];
    if (!call.endpoint.startsWith("/")) return [`${callName(call)} has the endpoint ${JSON.stringify(call.endpoint)}`];
    return VERBS.includes(call.verb) ? [] : [`${callName(call)} has the verb ${JSON.stringify(call.verb)}`];
  });
  return [...twice, ...calls];
}

/** No call of any extension takes these, so none of them does anything. */
const NOT_PARAMS = [1];
const NOT_A_PARAM = "agent-env-conformance";

async function firstFault(
  subject: Subject,
  faultOf: (call: ExtensionCall & { endpoint: string }, answer: Awaited<ReturnType<typeof asked>>) => Verdict,
): Promise<Verdict> {
  const calls = (subject.card.capabilities.extensions ?? []).flatMap(callsOf).flatMap((call) => {
    return call.endpoint?.startsWith("/") && VERBS.includes(call.verb) ? [{ ...call, endpoint: call.endpoint }] : [];
  });
  if (calls.length === 0) return skipped("lists no extension that is called");
  for (const call of calls) {
    const verdict = faultOf(call, await asked(subject, call));
    if (verdict.is !== "passed") return verdict;
  }
  return passed;
}

/** A call that no server can take for one of its own: nothing runs. */
function asked({ http }: Subject, { uri, verb, endpoint }: ExtensionCall & { endpoint: string }) {
  if (uri === GET_INTERFACES_URI) return http.ask(endpoint);
  if (verb === "GET") return http.ask(`${endpoint}?${NOT_A_PARAM}=1`);
  return http.ask(endpoint, { method: verb, body: NOT_PARAMS });
}

function endpointFault(call: ExtensionCall, answer: Awaited<ReturnType<typeof asked>>): Verdict {
  if (![404, 405, 501].includes(answer.status)) return passed;
  return failed(answer, {
    expected: `any answer of ${callName(call)} itself`,
    fix: "serve the extension there with that verb, or take it off the card",
  });
}

const ERROR_FIELDS = ["code", "message", "retryable", "applied"];

function errorFault(call: ExtensionCall, answer: Awaited<ReturnType<typeof asked>>): Verdict {
  if (call.uri === GET_INTERFACES_URI || [404, 405, 501].includes(answer.status)) return passed;
  const error = objectIn(answer.text)?.["error"];
  const fields = isJsonObject(error) ? error : {};
  const complete = ERROR_FIELDS.every((field) => field in fields);
  if (answer.status === 400 && complete && fields["code"] === "invalid_params" && fields["applied"] === "no") return passed;
  return failed(answer, {
    expected: `HTTP 400 {"ok":false,"error":{"code":"invalid_params","message":…,"retryable":false,"applied":"no"}}`,
    fix: `refuse what ${callName(call)} doesn't take before it runs, so that a client knows that nothing was applied`,
  });
}
