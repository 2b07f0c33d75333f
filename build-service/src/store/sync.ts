import { AnyRecord, DeploymentRecord, deploymentKvKey, envKvKey } from "@agent-env/protocol";
import { parseStored } from "./json.ts";
import { deploymentProjection, envProjection, labelProjections } from "./project.ts";
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
const PREFIXES = ["deployment:", "env:", "label:"];

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
  const origins = await origined(side, new Map());
  const wanted = valuesOf(origins);
  onStep(`R2 has ${origins.size} envs and deployments to show`);

  const added = [...wanted.keys()].filter((key) => !there.has(key));
  const corrected = [...wanted].filter(([key, value]) => there.has(key) && there.get(key) !== value).map(([key]) => key);
  const removed = keys.filter((key) => !wanted.has(key));
  if (write) {
    await writeUntilStill(side, origins, [...added, ...corrected]);
    if (removed.length > 0) await projections.removeAll(removed);
  }
  return { added, corrected, removed, unchanged: wanted.size - added.length - corrected.length };
}

/** What an object is to show by KV key, and the etag that this was made from; by the object's key. */
type Origins = ReadonlyMap<string, { readonly from: string; readonly values: ReadonlyMap<string, string> }>;

function valuesOf(origins: Origins): ReadonlyMap<string, string> {
  return new Map([...origins.values()].flatMap(({ values }) => [...values]));
}

/** All objects that have something to show. What `known` has of the same origin is not read again. */
async function origined({ objects }: StoreSide, known: Origins): Promise<Origins> {
  const latest = new Map<string, { readonly key: string; readonly etag: string; readonly version: number }>();
  for (const { key, etag } of await objects.list(RECORDS)) {
    const [, id = "", number = ""] = /^(.+)\/([1-9]\d*)\.json$/.exec(key.slice(RECORDS.length)) ?? [];
    const version = Number(number);
    if (id !== "" && version > (latest.get(id)?.version ?? 0)) latest.set(id, { key, etag, version });
  }
  const shown = await Promise.all(
    [...latest.values(), ...(await objects.list(DEPLOYMENTS))].map(async ({ key, etag }) => {
      const already = known.get(key);
      return [key, already?.from === etag ? already : { from: etag, values: await shownValues({ objects }, key) }] as const;
    }),
  );
  return new Map(shown.filter(([, { values }]) => values.size > 0));
}

/** What KV shows of an object. */
async function shownValues({ objects }: Pick<StoreSide, "objects">, key: string): Promise<ReadonlyMap<string, string>> {
  const found = await objects.get(key);
  if (found === null) return new Map();
  if (key.startsWith(RECORDS)) {
    const id = key.slice(RECORDS.length, key.lastIndexOf("/"));
    return valued(envKvKey(id), envProjection(parseStored(key, found.bytes, AnyRecord)).value);
  }
  const id = key.slice(DEPLOYMENTS.length).replace(/\.json$/, "");
  const record = parseStored(key, found.bytes, DeploymentRecord);
  return new Map([...valued(deploymentKvKey(id), deploymentProjection(record).value), ...labelProjections(record)]);
}

function valued(key: string, value: string | null): ReadonlyMap<string, string> {
  return new Map(value === null ? [] : [[key, value]]);
}

async function writeUntilStill(side: StoreSide, first: Origins, changed: readonly string[]): Promise<void> {
  let origins = first;
  let keys = changed;
  for (let look = 0; look < LOOKS && keys.length > 0; look++) {
    const shown = valuesOf(origins);
    await side.projections.putAll(new Map(keys.map((key) => [key, shown.get(key) ?? ""])));
    origins = await origined(side, origins);
    const wanted = valuesOf(origins);
    const gone = keys.filter((key) => !wanted.has(key));
    if (gone.length > 0) await side.projections.removeAll(gone);
    keys = keys.filter((key) => wanted.has(key) && wanted.get(key) !== shown.get(key));
  }
}
