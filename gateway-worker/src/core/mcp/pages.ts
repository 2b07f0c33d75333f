import { isJsonObject, type JsonObject } from "@agent-env/protocol";
import type { Outcome, Trouble } from "./link.ts";
import { isMethodUnknown } from "./method-unknown.ts";

const MAX_PAGES = 1_000;
const MAX_ITEMS = 10_000;

export type PagedList = {
  readonly method: string;
  /** Where the items are in a result. */
  readonly key: string;
  /** What they are called. */
  readonly items: string;
  readonly ask: (message: JsonObject) => Promise<Outcome>;
  /** Takes the items of one page; gives how many there are by now. */
  readonly take: (listed: readonly unknown[]) => number;
};
/** How reading went. `isStream`: the last page came as one. */
export type ReadPages = { readonly warnings: readonly string[]; readonly isStream: boolean } | { readonly trouble: Trouble };

/** Reads a server's list to its end, page after page. A server that doesn't know the method has an empty one. */
export async function readPages({ method, key, items, ask, take }: PagedList): Promise<ReadPages> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 1; ; page++) {
    const outcome = await ask({ jsonrpc: "2.0", method, ...(cursor === undefined ? {} : { params: { cursor } }) });
    if ("trouble" in outcome) return { trouble: outcome.trouble };
    const { isStream, reply } = outcome;
    const { result } = reply;
    if (!isJsonObject(result)) {
      if (page === 1 && isMethodUnknown(reply)) return { warnings: [], isStream };
      return { trouble: { reason: "bad_answer", detail: errorText(reply), delivered: true } };
    }
    const listed = result[key];
    if (!Array.isArray(listed)) return { trouble: { reason: "bad_answer", detail: `its result has no list of ${items}`, delivered: true } };
    const count = take(listed);
    const next = result["nextCursor"];
    if (typeof next !== "string") return { warnings: [], isStream };
    const stop = stopAt({ isRepeated: seen.has(next), pages: page, count, items });
    if (stop !== null) return { warnings: [`${method}: ${stop}; the rest is not listed`], isStream };
    seen.add(next);
    cursor = next;
  }
}

function stopAt({ isRepeated, pages, count, items }: { isRepeated: boolean; pages: number; count: number; items: string }): string | null {
  if (isRepeated) return "a cursor came twice";
  if (pages >= MAX_PAGES) return `more than ${MAX_PAGES} pages`;
  return count >= MAX_ITEMS ? `more than ${MAX_ITEMS} ${items}` : null;
}

function errorText(reply: JsonObject): string {
  const error = reply["error"];
  return isJsonObject(error) ? `error ${JSON.stringify(error["code"])}` : "no result";
}
