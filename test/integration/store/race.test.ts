import { AnyRecord, UserError } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { SingleStore } from "../../../build-service/src/store/store.ts";
import { latestVersion, putNextVersion, readVersion } from "../../../build-service/src/store/versions.ts";
import { STORE_KINDS } from "../../fixtures/store-kinds.ts";

const WRITERS = 10;
const ID = "team/raced";
const TYPES = ["mcp_server", "website"] as const;

/** `v1`, or why not. */
async function put(store: SingleStore, type: string): Promise<string> {
  try {
    return `v${(await putNextVersion(store, "env", { id: ID, type }, {})).version}`;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return error.message;
  }
}

describe.each(STORE_KINDS)("B5 ten writers over two connections that put envs of two types under one new id into a $name", ({ start }) => {
  test("leave one type, no gap, the highest pointer and the latest in KV", async () => {
    const kind = await start();
    const stores = [await kind.open(), await kind.open()] as const;
    try {
      const went = await Promise.all(Array.from({ length: WRITERS }, (_, n) => put(n % 4 < 2 ? stores[0] : stores[1], TYPES[n % 2] ?? "")));
      const [store] = stores;
      const latest = await latestVersion(store, "env", ID);
      const stored = await Promise.all(Array.from({ length: latest }, (_, n) => readVersion(store, "env", ID, n + 1)));
      const first = stored[0]?.type ?? "";
      const other = TYPES.find((type) => type !== first);
      expect(stored.map((record) => record?.type)).toEqual(stored.map(() => first));

      const written = went.filter((line) => /^v\d+$/.test(line)).map((line) => Number(line.slice(1)));
      expect(written.sort((a, b) => a - b)).toEqual(stored.map((_, n) => n + 1));
      const wrongType = `${ID}: is an env of type ${first} in the store, and this is a ${other}`;
      expect(went.filter((line) => line === wrongType)).toHaveLength(WRITERS / 2);
      const lostRaces = `${ID}: 5 times another writer took the next version first`;
      expect(went.filter((line) => !/^v\d+$/.test(line) && line !== wrongType && line !== lostRaces)).toEqual([]);

      const pointer = await store.objects.get(`records/env/${ID}/latest.json`);
      expect(JSON.parse(new TextDecoder().decode(pointer?.bytes))).toEqual({ version: latest });
      const shown = z.object({ revision: z.int(), record: AnyRecord }).parse(JSON.parse((await store.projections.get(`env:${ID}`)) ?? ""));
      expect(shown).toEqual({ revision: latest, record: stored.at(-1) });
    } finally {
      for (const store of stores) await store.close();
      await kind.stop();
    }
  });
});
