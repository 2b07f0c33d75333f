/** Work under way on several items. */
export type SideBySide<Item, Result> = {
  /** What the work on an item gave, once it has ended. */
  result(item: Item): Promise<Result>;
  /** Stops what hasn't ended, and waits until all has. Errors that nobody asked `result` for end here. */
  end(): Promise<void>;
};

/**
 * Works on `items` in their order, at most `limit` at once. The first error stops the others by their signal and keeps
 * those that haven't begun from beginning.
 */
export function sideBySide<Item, Result>(
  items: readonly Item[],
  limit: number,
  signal: AbortSignal,
  work: (item: Item, signal: AbortSignal) => Promise<Result>,
): SideBySide<Item, Result> {
  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal]);
  const results = new Map(items.map((item) => [item, Promise.withResolvers<Result>()]));
  const waiting = [...items];
  let first: { readonly error: unknown } | undefined;

  async function worker(): Promise<void> {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      const result = results.get(item);
      try {
        both.throwIfAborted();
        result?.resolve(await work(item, both));
      } catch (error) {
        // What ends only because another failed fails for that reason.
        first ??= { error };
        result?.reject(first.error);
        stop.abort(first.error);
      }
    }
  }
  const workers = Array.from({ length: Math.min(limit, items.length) }, worker);
  const settled = Promise.allSettled([...results.values()].map(({ promise }) => promise));

  return {
    async result(item) {
      const found = results.get(item);
      if (found === undefined) throw new Error("no work was begun on that item");
      return found.promise;
    },
    async end() {
      stop.abort();
      await Promise.all(workers);
      await settled;
    },
  };
}
