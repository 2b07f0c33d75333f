import { expect, test } from "vitest";
import { readingOf } from "./card-reading.ts";

const CARD = { name: "items", capabilities: { operations: null, extensions: null, tools: null }, children_environments: null };

test("V1 null and a missing key mean the same", () => {
  const [withNulls, without] = [readingOf(200, JSON.stringify(CARD)), readingOf(200, JSON.stringify({ name: "items", capabilities: {} }))];
  const read = (reading: typeof withNulls) =>
    reading.is === "card" ? [reading.served.card.capabilities.extensions ?? null, reading.served.card.additionalInterfaces] : reading;
  expect(read(withNulls)).toEqual(read(without));
});

test.each([
  [404, "", { is: "none", warning: null }],
  [302, "", { is: "none", warning: "its card is HTTP 302" }],
  [401, "", { is: "none", warning: "its card is HTTP 401" }],
  [408, "", { is: "unsettled", reason: "HTTP 408" }],
  [425, "", { is: "unsettled", reason: "HTTP 425" }],
  [429, "", { is: "unsettled", reason: "HTTP 429" }],
  [503, "", { is: "unsettled", reason: "HTTP 503" }],
  [204, "", { is: "unsettled", reason: "HTTP 204" }],
  [200, "<html>", { is: "none", warning: "its card is no JSON" }],
  [200, "{}", { is: "unsettled", reason: "JSON that is no card" }],
  [200, '{"name":""}', { is: "unsettled", reason: "JSON that is no card" }],
  [200, "[]", { is: "unsettled", reason: "JSON that is no card" }],
])("V2 V18 %i %s", (status, text, reading) => {
  expect(readingOf(status, text)).toEqual(reading);
});
