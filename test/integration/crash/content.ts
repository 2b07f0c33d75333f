import type { SingleStore } from "../../../build-service/src/store/store.ts";

type Held = { readonly bytes: Uint8Array; readonly metadata: Readonly<Record<string, string>> };

/** All that a store holds. */
export type Content = { readonly objects: ReadonlyMap<string, Held>; readonly projections: ReadonlyMap<string, string> };

export async function contentOf({ objects, projections }: SingleStore): Promise<Content> {
  const keys = await keysOf(objects);
  const held = await Promise.all(
    keys.map(async (key) => {
      const found = await objects.get(key);
      if (found === null) throw new Error(`${key}: listed, and not there`);
      return [key, { bytes: found.bytes, metadata: found.metadata }] as const;
    }),
  );
  return { objects: new Map(held), projections: await projections.getAll(await projections.list("")) };
}

/** Makes the store hold that, and nothing else. Locks and what belongs to them stay. */
export async function restore({ objects, projections }: SingleStore, content: Content): Promise<void> {
  await projections.removeAll(await projections.list(""));
  await Promise.all((await keysOf(objects)).map((key) => objects.remove(key)));
  await Promise.all([...content.objects].map(([key, { bytes, metadata }]) => objects.put(key, bytes, { ...metadata })));
  await projections.putAll(content.projections);
}

/** Each object's key and etag: what nothing changed has stayed the same. */
export async function stateOf({ objects }: SingleStore): Promise<string[]> {
  return (await objects.list("")).map(({ key, etag }) => `${key} ${etag}`);
}

/** A remote store's locks are objects too, and no part of what was written. */
async function keysOf(objects: SingleStore["objects"]): Promise<string[]> {
  return (await objects.list("")).map(({ key }) => key).filter((key) => !key.startsWith("locks/"));
}

/**
 * The content as text by key, so that two stores that hold the same compare as equal: attempts' ids and times, which no two
 * runs share, are left out.
 */
export function comparable({ objects, projections }: Content): Record<string, string> {
  const text = ({ bytes, metadata }: Held): string => {
    const { attempt, ...rest } = metadata;
    const named = attempt === undefined ? rest : { ...rest, attempt: "<attempt>" };
    return `${timeless(new TextDecoder().decode(bytes))} ${JSON.stringify(named)}`;
  };
  return Object.fromEntries([...[...objects].map(([key, held]) => [key, text(held)] as const), ...projections]);
}

function timeless(text: string): string {
  return text.replace(/"attempt":"[0-9a-f]{16}"/, '"attempt":"<attempt>"').replace(/"(at|built_at)":"[^"]*"/, '"$1":"<time>"');
}
