import { Part } from "@agent-env/protocol";
import type { Subject } from "./check.ts";
import { askData, dataRequest, isUnserved, partsIn, resultIn, serves } from "./data-plane.ts";
import type { Exchange } from "./http.ts";
import { once } from "./once.ts";

/** What was seen while data was reset, loaded, and reset again. */
export type DataTrial = {
  /** The parts that were loaded, and whether they are what the environment itself gave. */
  readonly seed: readonly Part[];
  readonly isOwn: boolean;
  readonly before: Exchange;
  readonly firstReset: Exchange;
  readonly empty: Exchange;
  readonly add: Exchange;
  readonly filled: Exchange;
  readonly secondReset: Exchange;
  readonly again: Exchange;
};

/** The trial, or why it can't be made. Made once; what was there before is loaded again when the checks have ended. */
export const dataTrial = once(makeTrial);

async function makeTrial(subject: Subject): Promise<DataTrial | { readonly reason: string }> {
  const { card } = subject;
  if (!serves(card, "data/reset") || !serves(card, "data/get") || !serves(card, "data/add")) {
    return { reason: "the card doesn't list all of reset, add and get, so what one does can't be seen by another" };
  }
  const [before, after] = [await getData(subject), await getData(subject)];
  const own = ownParts(before);
  if (own === null || partsIn(after) === null) return { reason: "data/get gives no parts: the check data-get says why" };
  if (!alike(before, after)) return { reason: "data/get answers differently each time it is asked, so a change can't be seen in it" };
  putBack(subject, own);
  const seed = subject.seed ?? own;
  const firstReset = await askData(subject, dataRequest("data/reset"));
  const empty = await getData(subject);
  const add = await askData(subject, dataRequest("data/add", { parts: seed }));
  if ([firstReset, add].some(isUnserved)) return { reason: "not all that the card lists is served: data-operations says what" };
  const filled = await getData(subject);
  const secondReset = await askData(subject, dataRequest("data/reset"));
  return { seed, isOwn: subject.seed === null, before, firstReset, empty, add, filled, secondReset, again: await getData(subject) };
}

export function getData(subject: Subject): Promise<Exchange> {
  return askData(subject, dataRequest("data/get", {}));
}

/** Whether two answers of `data/get` give the same parts. */
export function alike(one: Exchange, other: Exchange): boolean {
  return JSON.stringify(partsIn(one)) === JSON.stringify(partsIn(other));
}

/** Whether loading was seen to change the data: without it a reset that does nothing looks like one that works. */
export function sawSeed({ empty, filled }: DataTrial): boolean {
  return partsIn(filled) !== null && !alike(empty, filled);
}

function ownParts(exchange: Exchange): Part[] | null {
  const read = Part.array().safeParse(partsIn(exchange));
  return read.success ? read.data : null;
}

/** Leaves the environment as it was found, as far as what `data/get` gave says it. */
function putBack(subject: Subject, own: readonly Part[]): void {
  subject.atEnd(async () => {
    await askData(subject, dataRequest("data/reset"));
    if (own.length > 0) await askData(subject, dataRequest("data/add", { parts: own }));
    return JSON.stringify(partsIn(await getData(subject))) === JSON.stringify(own)
      ? null
      : "the data that it held before isn't there again: it was reset, and what data/get had given could not be loaded";
  });
}

/** Whether the second reset left what the first one did. */
export function resets({ empty, again }: DataTrial): boolean {
  return alike(empty, again);
}

/** Whether a reset or an add was answered with `{}`. */
export function isDone(exchange: Exchange): boolean {
  const result = resultIn(exchange);
  return result !== null && Object.keys(result).length === 0;
}
