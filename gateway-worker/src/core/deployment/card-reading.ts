import { CARD_PATH, Card, isJsonObject, isTooDeep, type JsonObject, joined, MAX_DEPTH, receivedJson } from "@agent-env/protocol";
import { BodyTooLarge, textOf } from "../body.ts";
import { HOPS_FIELD } from "../route.ts";
import { Fault, type Host } from "../seam.ts";

const CARD_MS = 5_000;
const MAX_CARD_BYTES = 16_777_216;

/** A card as served, and as read. */
export type ServedCard = { readonly raw: JsonObject; readonly card: Card };

/** What a server says of its card (3-wire §gateway, start 3). `none`: it is up and has none. `unsettled`: ask again. */
export type CardReading =
  | { readonly is: "card"; readonly served: ServedCard }
  | { readonly is: "none"; readonly warning: string | null }
  | { readonly is: "unsettled"; readonly reason: string };

/** Reads the card of the server at a base address. */
export async function readCard(host: Host, base: string): Promise<CardReading> {
  const exchange = host.upstream({
    method: "GET",
    url: joined(base, CARD_PATH),
    headers: [
      ["accept", "application/json"],
      ["accept-encoding", "identity"],
      [HOPS_FIELD, "1"],
    ],
    body: null,
    idleMs: CARD_MS,
  });
  const timer = setTimeout(exchange.abort, CARD_MS);
  try {
    const response = await exchange.response;
    const text = await textOf(response, MAX_CARD_BYTES);
    return readingOf(response.status, text);
  } catch (error) {
    exchange.abort();
    if (error instanceof BodyTooLarge) return { is: "unsettled", reason: `its card is larger than ${MAX_CARD_BYTES} bytes` };
    if (error instanceof Fault) return { is: "unsettled", reason: error.reason };
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** What an answer on the card path means. */
export function readingOf(status: number, text: string): CardReading {
  if (status === 404) return { is: "none", warning: null };
  if (status >= 300 && status < 500 && ![408, 425, 429].includes(status)) return { is: "none", warning: `its card is HTTP ${status}` };
  if (status !== 200) return { is: "unsettled", reason: `HTTP ${status}` };
  if (isTooDeep(text)) return { is: "unsettled", reason: `a card that nests deeper than ${MAX_DEPTH}` };
  const read = receivedJson(text);
  if ("problem" in read) return { is: "none", warning: `its card is ${read.problem}` };
  const raw = read.value;
  const parsed = Card.safeParse(raw);
  if (!isJsonObject(raw) || !parsed.success) return { is: "unsettled", reason: "JSON that is no card" };
  return { is: "card", served: { raw, card: parsed.data } };
}
