import { AnyRecord, DeploymentRecord, deploymentKvKey, envKvKey } from "@agent-env/protocol";
import { parseStored } from "./json.ts";
import { deploymentProjection, envProjection } from "./project.ts";
import type { StoreSide } from "./store.ts";

/** What differs between R2 and what KV shows of it, by KV key. */
export type SyncResult = {
  readonly added: readonly string[];
  readonly corrected: readonly string[];
  readonly removed: readonly string[];
  readonly unchanged: number;
};

const RECORDS = "records/env/";
const DEPLOYMENTS = "deployments/";
const PREFIXES = ["deployment:", "env:"];

/** Writers go on meanwhile; each look costs a list of R2. */
const LOOKS = 5;

/**
 * Rebuilds KV from R2: adds what is missing, corrects what differs, removes what shows nothing that is there. Keys of other
 * kinds are left alone. Without `write` it only says what it would do.
 *
 * Safe beside writers: KV is listed before R2, so that what is new in KV is no stray; and R2 is looked at again after the
 * writing, until what was written is what it says.
 */
export async function syncProjections(
  side: StoreSide,
  options: { readonly write: boolean; readonly onStep: (text: string) => void },
): Promise<SyncResult> {
  const { projections } = side;
  const { write, onStep } = options;
  const keys = (await Promise.all(PREFIXES.map((prefix) => projections.list(prefix)))).flat();
  onStep(`KV has ${keys.length} keys`);
  const there = await projections.getAll(keys);
  const wanted = await wantedValues(side, new Map());
  onStep(`R2 has ${wanted.size} envs and deployments to show`);

  const added = [...wanted.keys()].filter((key) => !there.has(key));
  const corrected = [...wanted].filter(([key, { value }]) => there.has(key) && there.get(key) !== value).map(([key]) => key);
  const removed = keys.filter((key) => !wanted.has(key));
  if (write) {
    await writeUntilStill(side, wanted, [...added, ...corrected]);
    if (removed.length > 0) await projections.removeAll(removed);
  }
  return { added, corrected, removed, unchanged: wanted.size - added.length - corrected.length };
}

/** A value to show, and the etag or version that it was made from. */
type Wanted = ReadonlyMap<string, { readonly from: string; readonly value: string }>;

/** What KV has to hold. What `known` has of the same origin is not read again. */
async function wantedValues({ objects }: StoreSide, known: Wanted): Promise<Wanted> {
  const origins = new Map<string, { readonly key: string; readonly from: string; readonly version: number }>();
  for (const { key, etag } of await objects.list(RECORDS)) {
    const [, id = "", number = ""] = /^(.+)\/([1-9]\d*)\.json$/.exec(key.slice(RECORDS.length)) ?? [];
    const version = Number(number);
    if (id !== "" && version > (origins.get(envKvKey(id))?.version ?? 0)) origins.set(envKvKey(id), { key, from: etag, version });
  }
  for (const { key, etag } of await objects.list(DEPLOYMENTS)) {
    const id = key.slice(DEPLOYMENTS.length).replace(/\.json$/, "");
    origins.set(deploymentKvKey(id), { key, from: etag, version: 0 });
  }
  const values = await Promise.all(
    [...origins].map(async ([kvKey, { key, from }]): Promise<[string, { from: string; value: string } | null]> => {
      const already = known.get(kvKey);
      if (already?.from === from) return [kvKey, already];
      const value = await shownValue({ objects }, key);
      return [kvKey, value === null ? null : { from, value }];
    }),
  );
  return new Map(values.flatMap(([key, value]) => (value === null ? [] : [[key, value] as const])));
}

/** What KV shows of an object. */
async function shownValue({ objects }: Pick<StoreSide, "objects">, key: string): Promise<string | null> {
  const found = await objects.get(key);
  if (found === null) return null;
  if (key.startsWith(RECORDS)) return envProjection(parseStored(key, found.bytes, AnyRecord)).value;
  return deploymentProjection(parseStored(key, found.bytes, DeploymentRecord)).value;
}

async function writeUntilStill(side: StoreSide, first: Wanted, changed: readonly string[]): Promise<void> {
  let wanted = first;
  let keys = changed;
  for (let look = 0; look < LOOKS && keys.length > 0; look++) {
    const shown = wanted;
    await side.projections.putAll(new Map(keys.flatMap((key) => [[key, shown.get(key)?.value ?? ""] as const])));
    wanted = await wantedValues(side, shown);
    const gone = keys.filter((key) => !wanted.has(key));
    if (gone.length > 0) await side.projections.removeAll(gone);
    keys = keys.filter((key) => wanted.has(key) && wanted.get(key)?.value !== shown.get(key)?.value);
  }
}
