import { recordKey } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { encodedId } from "../bundle/ids.ts";
import { singleStore } from "./sides.ts";
import { storedRecord } from "./stored.ts";
import { createVersion, putNextVersion, requiredVersion } from "./versions.ts";

const ITEM = { id: "team/items", type: "mcp_server" };
const said = (what: string, why: string, next: string) => expect.objectContaining({ message: what, why, next });

describe("what isn't in the store is named with what is", () => {
  const ask = async (ids: readonly string[], version: number | null) => {
    const store = memoryStore();
    await putNextVersion(store, "env", ITEM, {});
    return storedRecord(store, { kind: "env", ids, version });
  };

  test("a version", async () => {
    await expect(ask(["team/items"], 4)).rejects.toEqual(
      said("team/items: there is no v4 of this env in the store", "its latest is v1", "leave out --version, or name one from 1 to that"),
    );
  });

  test("N7 a version whose bytes have gone", async () => {
    const { objects, local, close } = memoryStore();
    const key = recordKey("env", encodedId(ITEM.id), 1);
    const store = singleStore(
      { ...local, objects: { ...objects, get: async (asked) => (asked === key ? null : objects.get(asked)) } },
      close,
    );
    await putNextVersion(store, "env", ITEM, {});
    await expect(storedRecord(store, { kind: "env", ids: [ITEM.id], version: null })).rejects.toEqual(
      said(
        "team/items: the record of v1 is gone from the store",
        "its number is taken, and its bytes are not there: something else removed them",
        "run the bundle that holds it, or put it again, which writes another version",
      ),
    );
  });

  const PUT = "run the bundle that holds it, or put it: agent-env --help";
  test.each([
    [["other"], said("other: no such env in the store", "nothing has written it", PUT)],
    [
      ["@local/~/demo/other", "other"],
      said(
        "other: no such env in the store",
        "nothing has written it, nor @local/~/demo/other, which has that name in the bundle here",
        PUT,
      ),
    ],
  ])("an id, looked for as %j", async (ids, refusal) => {
    await expect(ask(ids, null)).rejects.toEqual(refusal);
  });

  test.each([
    [0, said("tool: no such image in the store", "nothing has written it", "run the bundle that holds it: `agent-env run <bundle>`")],
    [
      3,
      said(
        "tool v3: no such image in the store",
        "nothing has written that version",
        "run the bundle that holds it: `agent-env run <bundle>`",
      ),
    ],
  ])("what something references, at version %i", async (version, refusal) => {
    await expect(requiredVersion(memoryStore(), "artifact", { id: "tool", version }, "image")).rejects.toEqual(refusal);
  });
});

test("B5 an env keeps the type of its first version", async () => {
  const store = memoryStore();
  await putNextVersion(store, "env", ITEM, {});
  await expect(createVersion(store, "env", { ...ITEM, version: 2, type: "website" }, {})).rejects.toEqual(
    said(
      "team/items: is an env of type mcp_server in the store, and this is a website",
      "what deploys an env relies on its type, so an id keeps the type that it had first",
      "give the new one another id",
    ),
  );
});

test("a put that loses the race for a number five times gives up", async () => {
  const { objects, local, close } = memoryStore();
  let taken = 0;
  // Another writer, who is a moment earlier each time.
  const create: typeof objects.create = async (key, ...rest) => {
    if (key === recordKey("env", encodedId(ITEM.id), taken + 1)) await objects.create(key, JSON.stringify({ ...ITEM, version: ++taken }));
    return objects.create(key, ...rest);
  };
  const store = singleStore({ ...local, objects: { ...objects, create } }, close);
  await expect(putNextVersion(store, "env", ITEM, {})).rejects.toEqual(
    said(
      "team/items: 5 times another writer took the next version first",
      "something else writes this id all the time",
      "find out what does, then try again",
    ),
  );
  expect(taken).toBe(5);
});
