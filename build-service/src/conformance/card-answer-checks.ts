import { CARD_PATH, Card, isJsonObject, type JsonObject, jsonOf } from "@agent-env/protocol";
import { z } from "zod";
import { type CardAnswer, type CardAnswerCheck, failed, passed, skipped } from "./check.ts";

const NAME = "a non-empty string under `name`";

/** What is promised of the answer on the card path, whatever the card says (3-wire §card). */
export const CARD_ANSWER_CHECKS: readonly CardAnswerCheck[] = [
  {
    id: "card-served",
    group: "card",
    level: "required",
    title: "a GET on the card path is answered with the card",
    run({ answer, raw }) {
      const expected = `HTTP 200 with a JSON object that has ${NAME}`;
      if (answer.status >= 300 && answer.status < 400) {
        return failed(answer, { expected, fix: "serve the card there itself: clients follow no redirect from the card's path" });
      }
      if (answer.status !== 200) return failed(answer, { expected, fix: `serve the environment's card at ${CARD_PATH}` });
      if (raw === null) return failed(answer, { expected, fix: "answer with the card alone, as one JSON object" });
      return typeof raw["name"] === "string" && raw["name"] !== ""
        ? passed
        : failed(answer, { expected, got: `name ${JSON.stringify(raw["name"] ?? null)}`, fix: `give the card ${NAME}: the environment's` });
    },
  },
  {
    id: "card-type",
    group: "card",
    level: "required",
    title: "the card is application/json",
    run({ answer, raw }) {
      if (raw === null) return skipped("there is no card to have a type");
      if (answer.type === "application/json") return passed;
      return failed(answer, {
        expected: "Content-Type: application/json",
        got: `Content-Type: ${answer.header("content-type") ?? "(none)"}`,
        fix: "answer with that content type",
      });
    },
  },
  {
    id: "card-head",
    group: "card",
    level: "required",
    title: "a HEAD on the card path is answered like a GET, without a body",
    async run({ http, raw }) {
      if (raw === null) return skipped("there is no card");
      const answer = await http.ask(CARD_PATH, { method: "HEAD" });
      return answer.status === 200
        ? passed
        : failed(answer, { expected: "HTTP 200", fix: "let the route of the card answer HEAD as well as GET" });
    },
  },
  {
    id: "card-fields",
    group: "card",
    level: "required",
    title: "each field of the card has its type",
    run({ answer, raw }: CardAnswer) {
      if (raw === null) return skipped("there is no card");
      const faults = fieldFaults(raw);
      if (faults.length === 0) return passed;
      return failed(answer, {
        expected: "the fields of an environment's card",
        got: faults.join("; "),
        fix: "correct these fields; what is optional may be left out, and only lists may be null",
      });
    },
  },
];

/** The JSON object in an answer; null where it holds none. */
export function objectIn(text: string): JsonObject | null {
  const value = jsonOf(text);
  return isJsonObject(value) ? value : null;
}

/** Absent or of its type: null is told apart from absent, which `Card` reads alike only for optional lists. */
const NOT_NULL = ["protocolVersion", "url", "preferredTransport", "additionalInterfaces", "capabilities"];

function fieldFaults(raw: JsonObject): string[] {
  const nulls = NOT_NULL.filter((key) => raw[key] === null).map((key) => `${key} is null`);
  const readable = Object.fromEntries(Object.entries(raw).filter(([key, value]) => !(NOT_NULL.includes(key) && value === null)));
  const issues = Card.safeParse(readable).error?.issues ?? [];
  const faults = issues
    .filter(({ path }) => path[0] !== "name" && !nulls.includes(`${String(path[0])} is null`))
    .map(({ path, message }) => `${z.core.toDotPath(path)}: ${message}`);
  return [...nulls, ...faults];
}
