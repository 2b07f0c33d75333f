import { CARD_PATH, type Card, DEFAULT_MCP_PATH, joined, jsonOf, MCP_TRANSPORT, tableOf, UserError } from "@agent-env/protocol";
import { z } from "zod";
import type { Started } from "../providers/env/provider.ts";
import { type Attempt, answer, cardIn, settled } from "./readiness.ts";

/** What a published address may take on top of the gateway itself (5-run §5.2). */
const ADDRESS_BUDGET_S = 120;

const Health = z.looseObject({
  status: z.string(),
  waiting: z.array(z.looseObject({ name: z.string(), reason: z.string().nullish() })).optional(),
});
const State = z.looseObject({ tool_name_clashes: tableOf(z.array(z.string())).default({}) });

/** A gateway's `/health`: ready once it is 200; while it starts, the reason says what it waits for. */
export function gatewayHealth(gatewayUrl: string): Attempt {
  return async (signal) => {
    const { status, text } = await answer(joined(gatewayUrl, "/health"), signal);
    if (status === 200) return null;
    const waiting = Health.safeParse(jsonOf(text)).data?.waiting ?? [];
    if (waiting.length === 0) return `HTTP ${status}${text === "" ? "" : `: ${text.trim().slice(0, 200)}`}`;
    return `it waits for ${waiting.map(({ name, reason }) => `${name} (${reason ?? "no reason given"})`).join(", ")}`;
  };
}

/** Whether a card is served below `url`; `take` gets it, and says why it won't do. */
export function cardAttempt(url: string, take: (card: Card) => string | null, headers: Readonly<Record<string, string>> = {}): Attempt {
  return async (signal) => {
    const { status, text } = await answer(joined(url, CARD_PATH), signal, headers);
    if (status !== 200) return `HTTP ${status}`;
    const card = cardIn(text);
    return card === null ? "what it serves there is no card" : take(card);
  };
}

/** The card that is served at `url`. Throws a UserError with the last reason when there is none in time. */
export async function readCard(url: string, { context: { signal }, headers }: Pick<Started, "context" | "headers">): Promise<Card> {
  let card: Card | null = null;
  const attempt = cardAttempt(
    url,
    (found) => {
      card = found;
      return null;
    },
    headers,
  );
  const { reason } = await settled({ name: "card", budgetSeconds: ADDRESS_BUDGET_S, attempt }, signal);
  if (card !== null) return card;
  throw new UserError({
    what: `${joined(url, CARD_PATH)}: no card within ${ADDRESS_BUDGET_S} s`,
    why: `the last answer was: ${reason}`,
    next: "deploy again",
  });
}

/** Refuses an env in which two servers offer a tool of one name: callers name a tool without its server. */
export async function refuseClashes(
  envId: string,
  gatewayUrl: string,
  { context: { signal }, headers }: Pick<Started, "context" | "headers">,
): Promise<void> {
  const { text } = await answer(joined(gatewayUrl, "/state"), signal, headers);
  const clashes = Object.entries(State.parse(jsonOf(text)).tool_name_clashes);
  if (clashes.length === 0) return;
  throw new UserError({
    what: `${envId}: ${clashes.map(([tool, servers]) => `the tool ${tool} is offered by ${servers.join(" and ")}`).join("; ")}`,
    why: "callers name a tool without its server, so names must differ across an env",
    next: "rename the tool in one of them; `{environment_name}_` at its start makes it unique",
  });
}

/** Where a card's MCP endpoint is (3-wire §card). */
export function mcpUrl(url: string, card: Card): string {
  const declared = card.additionalInterfaces.find((one) => one.transport === MCP_TRANSPORT && one.url !== "");
  return joined(url, declared?.url ?? DEFAULT_MCP_PATH);
}
