const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  ENOTFOUND: "name not found",
  EAI_AGAIN: "name not found",
  EHOSTUNREACH: "host unreachable",
  ETIMEDOUT: "connection timed out",
  UND_ERR_SOCKET: "connection closed without an answer",
};

/** Why a request failed, in the words that all our probes use. */
export function failureReason(error: unknown): string {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (at.name === "TimeoutError" || at.name === "AbortError") return "no answer in time";
    if ("code" in at && typeof at.code === "string" && at.code in WORDS) return WORDS[at.code] ?? at.code;
  }
  return error instanceof Error ? error.message : String(error);
}
