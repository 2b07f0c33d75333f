import { DATA_OPERATIONS, isJsonObject, Part } from "@agent-env/protocol";
import { allOf, type Check, failed, failedWithout, passed, type Subject, skipped, type Verdict } from "./check.ts";
import { askData, dataPath, dataRequest, errorIn, hasDataPlane, isUnserved, partsIn, replyIn, serves } from "./data-plane.ts";
import { dataTrial, getData } from "./data-trial.ts";
import { extensionOf } from "./extensions.ts";
import type { Exchange } from "./http.ts";
import { once } from "./once.ts";

/** What is promised of the data plane's answers (3-wire §data). What it does with data is in `data-content-checks`. */
export const DATA_CHECKS: readonly Check[] = [
  {
    id: "data-endpoint",
    group: "data plane",
    level: "required",
    title: "a POST on the data plane is answered with JSON-RPC, as HTTP 200 application/json",
    async run(subject) {
      if (!hasDataPlane(subject.card)) return skipped(NO_OPERATIONS);
      if (dataPath(subject) === null) {
        return failedWithout({
          sent: "nothing",
          expected: "a data plane on the environment's own address",
          got: `url ${JSON.stringify(subject.card.url)}`,
          fix: 'write a path as the card\'s `url`: "/agentenv"',
        });
      }
      const answer = await probe(subject);
      return replyIn(answer) !== null
        ? passed
        : failed(answer, {
            expected: 'HTTP 200 application/json {"jsonrpc":"2.0","id":1,…} with a result or an error',
            fix: "answer every request there this way, errors too: loaders read nothing of another status or type",
          });
    },
  },
  served({
    id: "data-verb",
    level: "required",
    title: "a GET on the data plane is 405",
    async run(subject) {
      const answer = await subject.http.ask(dataPath(subject) ?? "");
      return answer.status === 405 ? passed : failed(answer, { expected: "HTTP 405", fix: "serve POST there and nothing else" });
    },
  }),
  served({
    id: "data-parse-error",
    level: "required",
    title: "a body that isn't JSON is error -32700 with id null",
    run: async (subject) => errorVerdict(await askData(subject, "{bad"), { code: -32700, message: "parse error", id: null }),
  }),
  served({
    id: "data-invalid-request",
    level: "required",
    title: "a body that is no JSON-RPC 2.0 request is error -32600",
    run: (subject) =>
      allOf(
        (
          [
            ["", null],
            ["[]", null],
            [[dataRequest("data/get")], null],
            [{ id: 7, method: "data/get" }, 7],
            [{ jsonrpc: "1.0", id: "a", method: "data/get" }, "a"],
            [{ jsonrpc: "2.0", id: 3 }, 3],
          ] as const
        ).map(
          ([body, id]) =>
            async () =>
              errorVerdict(await askData(subject, body), { code: -32600, message: "invalid request", id }),
        ),
      ),
  }),
  served({
    id: "data-method-type",
    level: "recommended",
    title: "a method that is no string is error -32600",
    run: async (subject) =>
      errorVerdict(await askData(subject, { jsonrpc: "2.0", id: 4, method: 5 }), { code: -32600, message: "invalid request", id: 4 }),
  }),
  served({
    id: "data-unknown-method",
    level: "required",
    title: "a method that isn't served is error -32601 and named",
    run: async (subject) => errorVerdict(await probe(subject), { code: -32601, message: `method not found: ${UNKNOWN}`, id: 1 }),
  }),
  served({
    id: "data-ids",
    level: "required",
    title: "the id comes back as it was sent, and null where there was none",
    run: (subject) =>
      allOf(
        ["a-1", 12, undefined].map((id) => async () => {
          const answer = await askData(subject, { jsonrpc: "2.0", ...(id === undefined ? {} : { id }), method: UNKNOWN });
          if (JSON.stringify(replyIn(answer)?.["id"]) === JSON.stringify(id ?? null)) return passed;
          return failed(answer, { expected: `id ${JSON.stringify(id ?? null)}`, fix: "echo the request's id; answer also what has none" });
        }),
      ),
  }),
  served({
    id: "data-operations",
    level: "required",
    title: "the data plane serves the operations that the card lists, and no other",
    run: (subject) => allOf(DATA_OPERATIONS.map((operation) => () => operationVerdict(subject, operation))),
  }),
  served({
    id: "data-get",
    level: "required",
    title: "`data/get` gives parts, with or without params",
    async run(subject) {
      if (!serves(subject.card, "data/get")) return skipped("the card lists no data/get");
      if (isUnserved(await getData(subject))) return skipped(UNSERVED);
      const answers = [await getData(subject), await askData(subject, { ...dataRequest("data/get"), params: null })];
      return allOf(answers.map((answer) => () => partsVerdict(answer)));
    },
  }),
  served({
    id: "data-bad-params",
    level: "required",
    title: "`data/add` with params that it can't take is error -32602 with a detail",
    changes: true,
    async run(subject) {
      if (!serves(subject.card, "data/add")) return skipped("the card lists no data/add");
      if (isUnserved(await askData(subject, dataRequest("data/add", { parts: [] })))) return skipped(UNSERVED);
      // A server that takes these holds them: what was there before has to be known by then.
      await dataTrial(subject);
      const bad = [{}, { parts: [] }, { parts: [{ kind: "video" }] }, { parts: [{ kind: "file", file: {} }] }, [1]];
      return allOf(bad.map((params) => async () => badParamsVerdict(await askData(subject, dataRequest("data/add", params)))));
    },
  }),
  served({
    id: "data-grant",
    level: "required",
    title: "a write grant that isn't one is refused by the names of its fields, never their values",
    async run(subject) {
      if (extensionOf(subject.card, "urn:agentenv:data-objects/v1") === undefined) return skipped("lists no data-objects/v1");
      const secret = "../agent-env-conformance-secret";
      const answer = await askData(subject, dataRequest("data/get", { write_namespace: { root_path: secret } }));
      if (answer.text.includes(secret)) {
        return failed(answer, { expected: "the names of the fields alone", fix: "keep a grant's values out of errors: they are secrets" });
      }
      return badParamsVerdict(answer);
    },
  }),
];

const UNKNOWN = "data/agent-env-conformance";
const UNSERVED = "it isn't served: data-operations says so";
const NO_OPERATIONS = "the card lists no operations";

/** A check of a data plane that answers at all. */
function served(check: Omit<Check, "group">): Check {
  return {
    ...check,
    group: "data plane",
    async run(subject) {
      if (dataPath(subject) === null) return skipped("the card puts the data plane on another server");
      const answers = replyIn(await probe(subject)) !== null;
      if (!answers) return skipped(hasDataPlane(subject.card) ? "the data plane doesn't answer: data-endpoint says how" : NO_OPERATIONS);
      return await check.run(subject);
    },
  };
}

const probe = once((subject) => askData(subject, dataRequest(UNKNOWN)));

type ExpectedError = { readonly code: number; readonly message: string; readonly id: unknown };

function errorVerdict(answer: Exchange, { code, message, id }: ExpectedError): Verdict {
  const error = errorIn(answer);
  const same = error?.["code"] === code && error["message"] === message && JSON.stringify(replyIn(answer)?.["id"]) === JSON.stringify(id);
  if (same) return passed;
  return failed(answer, {
    expected: `HTTP 200 {"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":${code},"message":${JSON.stringify(message)}}}`,
    fix: "answer with exactly that code, message and id: clients tell errors apart by them",
  });
}

/** Refused as params, whatever the detail says of them. */
function badParamsVerdict(answer: Exchange): Verdict {
  const error = errorIn(answer);
  const data = error?.["data"];
  const detail = isJsonObject(data) ? data["detail"] : undefined;
  if (error?.["code"] === -32602 && error["message"] === "invalid_request" && typeof detail === "string") return passed;
  return failed(answer, {
    expected: '{"code":-32602,"message":"invalid_request","data":{"detail":…}}',
    fix: "check params before the handler runs, and say in `detail` what is wrong with them",
  });
}

async function operationVerdict(subject: Subject, operation: (typeof DATA_OPERATIONS)[number]): Promise<Verdict> {
  const { card, readOnly } = subject;
  const listed = serves(card, operation);
  // A reset does its work whatever its params are: it is asked for only where the card says that there is none.
  if (operation === "data/reset" && (listed || readOnly)) return passed;
  const answer = await askData(subject, dataRequest(operation, operation === "data/add" ? { parts: [] } : {}));
  if (isUnserved(answer) !== listed) return passed;
  return failed(answer, {
    expected: listed ? `${operation} is served: the card lists it` : `error -32601: the card doesn't list ${operation}`,
    fix: "let the card list what the handlers serve, and nothing else",
  });
}

function partsVerdict(answer: Exchange): Verdict {
  const parts = partsIn(answer);
  const expected = '{"parts":[…]} of parts with kind text, data or file';
  if (parts === null) return failed(answer, { expected, fix: "answer with a list of parts, also when it is empty" });
  const broken = parts.findIndex((part) => !Part.safeParse(part).success || holdsNull(part));
  if (broken === -1) return passed;
  return failed(answer, {
    expected,
    got: `parts[${broken}]: ${JSON.stringify(parts[broken])?.slice(0, 200)}`,
    fix: "give that part the members of its kind; what is absent is left out, not null",
  });
}

function holdsNull(part: unknown): boolean {
  if (!isJsonObject(part)) return false;
  const file = isJsonObject(part["file"]) ? Object.values(part["file"]) : [];
  return [...Object.values(part), ...file].includes(null);
}
