import { isJsonObject, type JsonObject, parseJson } from "@agent-env/protocol";
import type { Sql } from "../seam.ts";
import type { ClientEra, Era } from "./channel.ts";

/** What a server says of itself in one era. */
export type Greeting = { readonly capabilities: JsonObject; readonly instructions: string | null };
/** The same in each era that it is known to speak, and when it was asked. */
export type Greetings = {
  readonly legacy: Greeting | null;
  readonly modern: Greeting | null;
  /** A modern server isn't asked for a handshake before a legacy client would use it. */
  readonly isLegacyOpen: boolean;
  readonly askedMs: number;
};

export const NEVER_ASKED: Greetings = { legacy: null, modern: null, isLegacyOpen: false, askedMs: 0 };

/** A server's own words, from the result of `initialize` or `server/discover`. */
export function greetingOf(result: JsonObject): Greeting {
  const { capabilities, instructions } = result;
  return {
    capabilities: isJsonObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === "string" && instructions !== "" ? instructions : null,
  };
}

/** The era in which a call of a client goes out: the client's own, where the server speaks it; of nobody's, the modern one. */
export function eraFor(greetings: Greetings, wanted: ClientEra): Era {
  const { legacy, modern } = greetings;
  return modern !== null && (wanted !== "legacy" || legacy === null) ? "modern" : "legacy";
}

/** Keeps what a server said, so that a deployment that left memory needn't ask again. */
export function rememberGreetings(sql: Sql, server: string, greetings: Greetings): void {
  sql.exec("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)", factName(server), JSON.stringify(greetings));
}

/** What a server said when it was last asked. */
export function rememberedGreetings(sql: Sql, server: string): Greetings {
  const text = sql.exec("SELECT value FROM facts WHERE name = ?", factName(server))[0]?.["value"];
  const stored = typeof text === "string" ? parseJson(text) : null;
  if (!isJsonObject(stored)) return NEVER_ASKED;
  const read = (said: unknown) => (isJsonObject(said) ? greetingOf(said) : null);
  return {
    legacy: read(stored["legacy"]),
    modern: read(stored["modern"]),
    isLegacyOpen: stored["isLegacyOpen"] === true,
    askedMs: Number(stored["askedMs"]),
  };
}

function factName(server: string): string {
  return `greetings ${server}`;
}
