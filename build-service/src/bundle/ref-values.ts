import { type Kind, LOCAL_PREFIX, localIdProblem } from "@agent-env/protocol";
import { shownValue } from "./shown.ts";
import { isTable } from "./toml.ts";

/** A reference as written: a name or id, and the version it is pinned at. */
export type WrittenRef = { readonly text: string; readonly version: number | null };

/** Reads a reference of a toml (4-bundle §3.1), or says what is wrong with it. */
export function tomlRef(value: unknown, kind: Kind): WrittenRef | { readonly problem: string } {
  const problem = `expected "<name or id>" or { ${kind} = "<name or id>", version = <whole number from 1> }, and found ${shownValue(value)}`;
  if (typeof value === "string") return checkedText(value, null, problem);
  if (!isTable(value) || Object.keys(value).some((key) => key !== kind && key !== "version")) return { problem };
  const text = value[kind];
  const { version } = value;
  if (typeof text !== "string") return { problem };
  if (version === undefined) return checkedText(text, null, problem);
  if (typeof version === "number") return { problem: `${problem}: a number with a point is no whole one in TOML` };
  if (typeof version !== "bigint" || version < 1n || version > BigInt(Number.MAX_SAFE_INTEGER)) return { problem };
  return checkedText(text, Number(version), problem);
}

function checkedText(raw: string, version: number | null, empty: string): WrittenRef | { readonly problem: string } {
  if (raw === "") return { problem: empty };
  const text = raw.normalize("NFC");
  const problem = idProblem(text);
  return problem === null ? { text, version } : { problem };
}

/** Why a text can be no reference; null if it can be one. */
export function idProblem(text: string): string | null {
  if (!text.startsWith("@")) return null;
  if (!text.startsWith(LOCAL_PREFIX)) return `${shownValue(text)} is no id: one opens with "@local/" or with no @ at all`;
  const reason = localIdProblem(text);
  return reason === null ? null : `${shownValue(text)} is no legal id: ${reason}`;
}
