/** What the edge is to see of an id: the latest revision with its record. */
export type Shown = { readonly revision: number; readonly value: string };

/**
 * Shows the edge the latest revision. KV has no conditions, so of two writers the slower may cover the newer value with
 * its own: each looks afterwards whether what it has written is still the latest, and writes again if not. Whichever
 * writes last has then written the latest. What a killed writer leaves behind, its next run or `store sync` corrects.
 */
export async function projectLatest(latest: () => Promise<Shown | null>, write: (shown: Shown | null) => Promise<void>): Promise<void> {
  let shown = await latest();
  for (;;) {
    await write(shown);
    const now = await latest();
    if (now?.revision === shown?.revision) return;
    shown = now;
  }
}
